package links

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"
)

// portTries bounds how often a new link moves to another port because another process
// took the one that was free a moment ago.
const portTries = 40

// network is the Network of every driver.
type network struct {
	driver driver
	dial   string // the host that clients dial
	listen string // the host that the driver listens on
	choose func() (port int, err error)

	mu     sync.Mutex
	links  map[string]*link // nil while the link is being made
	closed bool
	end    func() error // releases the driver
}

func (n *network) Link(ctx context.Context, name, upstream string) (Link, error) {
	fail := func(err error) (Link, error) { return nil, fmt.Errorf("link %s to %s: %w", name, upstream, err) }
	if _, _, err := net.SplitHostPort(upstream); err != nil {
		return fail(err)
	}
	if err := n.reserve(name); err != nil {
		return fail(err)
	}
	var last error
	for range portTries {
		port, err := n.choose()
		if err != nil {
			last = err
			break
		}
		at := strconv.Itoa(port)
		l := newLink(n.driver, name, upstream, net.JoinHostPort(n.listen, at), net.JoinHostPort(n.dial, at), func() { n.forget(name) })
		last = l.replace(ctx, condition{})
		if last != nil {
			if ctx.Err() != nil || errors.Is(last, ErrUnreachable) || errors.Is(last, ErrNameTaken) {
				break
			}
			continue
		}
		if !n.keep(name, l) {
			_ = l.Close()
			return fail(ErrClosed)
		}
		return l, nil
	}
	n.forget(name)
	return fail(last)
}

func (n *network) reserve(name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return ErrClosed
	}
	if _, taken := n.links[name]; taken {
		return ErrNameTaken
	}
	n.links[name] = nil
	return nil
}

// keep adds a finished link. It returns false when the network was closed meanwhile.
func (n *network) keep(name string, l *link) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.links[name] = l
	return true
}

func (n *network) forget(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.links, name)
}

func (n *network) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	var open []*link
	for _, l := range n.links {
		if l != nil {
			open = append(open, l)
		}
	}
	n.mu.Unlock()

	var group errgroup.Group
	for _, l := range open {
		group.Go(l.Close)
	}
	err := group.Wait()
	return errors.Join(err, n.end())
}

// freePort chooses a port of this machine.
func freePort() (int, error) {
	found, err := FreePorts(1)
	if err != nil {
		return 0, err
	}
	return found[0], nil
}
