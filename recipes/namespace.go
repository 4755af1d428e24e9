package recipes

import "fmt"

// WithNamespace puts every path that the client's recipes are given below
// prefix, an absolute ZooKeeper path: with "/app" a lock at "/orders" is at
// "/app/orders", for other clients and in everything that is reported, as
// Lease.Path and Lease.Node. What takes a path that was reported, as
// Client.Revoke, takes it whole; Conn knows nothing of the namespace. Default:
// none. A prefix that is no such path makes Connect return [ErrBadPath].
func WithNamespace(prefix string) Option {
	return func(c *config) { c.namespace = &prefix }
}

func (c *config) checkNamespace() error {
	if c.namespace == nil {
		return nil
	}
	if err := checkPath(*c.namespace); err != nil {
		return fmt.Errorf("%w: namespace %q", err, *c.namespace)
	}
	return nil
}

// resolve returns the whole path of what a recipe was given. A bad path stays as
// it is: below the namespace it might look like a good one. The empty one becomes
// the root, which is as bad: what a recipe adds to it might look good as well.
func (c *Client) resolve(path string) string {
	if path == "" {
		return "/"
	}
	if c.cfg.namespace == nil || checkPath(path) != nil {
		return path
	}
	return *c.cfg.namespace + path
}
