package recipes

import (
	"context"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// WithClock has a client judge its sessions by another clock than the machine's.
func WithClock(c session.Clock) Option { return func(cfg *config) { cfg.Clock = c } }

// WithLookup replaces the system's resolver.
func WithLookup(lookup func(ctx context.Context, host string) ([]string, error)) Option {
	return func(c *config) { c.Lookup = lookup }
}
