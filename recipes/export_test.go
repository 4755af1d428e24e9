package recipes

import "github.com/zkverify/zkverify/recipes/internal/session"

// WithClock has a client judge its sessions by another clock than the machine's.
func WithClock(c session.Clock) Option { return func(cfg *config) { cfg.Clock = c } }
