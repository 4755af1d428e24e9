package recipes

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
)

// open opens a connection to a server: by the dialer, and TLS over it.
func (c *config) open(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := c.dial(ctx, network, addr)
	if err != nil || c.tls == nil {
		return raw, err
	}
	config := c.tls
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			raw.Close()
			return nil, err
		}
		config = config.Clone()
		config.ServerName = host
	}
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return conn, nil
}

// failures remembers why a session has no connection. go-zookeeper tries again
// and tells only its logger, so that is what it is.
type failures struct{ s *session }

// Printf implements zk.Logger.
func (f failures) Printf(_ string, args ...any) {
	f.s.mu.Lock()
	server, over := f.s.addr, f.s.over
	f.s.mu.Unlock()
	for _, arg := range args {
		err, ok := arg.(error)
		if !ok || over {
			continue
		}
		if !strings.Contains(err.Error(), server) {
			err = fmt.Errorf("%s: %w", server, err)
		}
		f.s.client.failed(err)
	}
}

// failed notes why there is no connection, or with nil that there is one.
func (c *Client) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failure = err
}

// noSession is what a caller is told whose wait for a session has ended by
// cause.
func (c *Client) noSession(cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil {
		return cause
	}
	return fmt.Errorf("%w (last: %w)", cause, c.failure)
}
