package recipes

import "context"

// WithLookup replaces the system's resolver.
func WithLookup(lookup func(ctx context.Context, host string) ([]string, error)) Option {
	return func(c *config) { c.Lookup = lookup }
}
