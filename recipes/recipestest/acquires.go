package recipestest

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// Occupy makes another client hold the mutex at a path: acquires of it wait, and tries are
// refused with ErrNotAcquired, until the returned lease is released or lost. It waits for a
// present holder of the mutex, for a minute at most. For locks other than mutexes, acquire with a
// client that [Client.Another] returns.
func (c *Client) Occupy(path string) *Lease {
	c.tb.Helper()
	other := c.Another()
	return other.acquire(recipes.NewMutex(other.Client, path))
}

// DenyAcquires makes the servers refuse new nodes below a path: acquires of the lock there fail
// with zk.ErrNoAuth, as with a wrong access control list. A lease that is held stays, and can be
// released.
func (c *Client) DenyAcquires(path string) {
	c.tb.Helper()
	c.setACL(path, zk.PermAll&^zk.PermCreate)
}

// AllowAcquires ends DenyAcquires.
func (c *Client) AllowAcquires(path string) {
	c.tb.Helper()
	c.setACL(path, zk.PermAll)
}

func (c *Client) setACL(path string, perms int32) {
	c.tb.Helper()
	conn := c.admin()
	for i := range path {
		if i == 0 || path[i] != '/' {
			continue
		}
		if _, err := conn.Create(path[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			c.tb.Fatalf("recipestest: create %s: %v", path[:i], err)
		}
	}
	_, err := conn.Create(path, nil, 0, zk.WorldACL(perms))
	if errors.Is(err, zk.ErrNodeExists) {
		_, err = conn.SetACL(path, zk.WorldACL(perms), -1)
	}
	if err != nil {
		c.tb.Fatalf("recipestest: set the permissions of %s: %v", path, err)
	}
}

// admin returns the connection of a second client that acts for the test, in every state of the
// client under test.
func (c *Client) admin() *zk.Conn {
	c.tb.Helper()
	if c.outsider == nil {
		c.outsider = c.open(c.servers.Client("recipestest"), nil)
	}
	conn := c.outsider.Conn()
	if conn == nil {
		c.tb.Fatal("recipestest: the servers have ended the session by which the test acts on nodes")
	}
	return conn
}
