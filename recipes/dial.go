package recipes

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"slices"
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
	server, link, over := f.s.addr, f.s.link, f.s.over
	f.s.mu.Unlock()
	for _, arg := range args {
		err, ok := arg.(error)
		if !ok || over {
			continue
		}
		if link != nil {
			if refused := link.refusal(); refused != nil {
				err = refused // go-zookeeper may have kept its text alone
			}
		}
		if !strings.Contains(err.Error(), server) {
			err = fmt.Errorf("%s: %w", server, err)
		}
		f.s.client.failed(server, err)
	}
}

// attempting notes that a server is asked of which nothing is known yet.
func (c *Client) attempting(server string) {
	c.mu.Lock()
	_, known := c.failures[server]
	c.mu.Unlock()
	if !known {
		c.failed(server, fmt.Errorf("%s: no answer yet", server))
	}
}

// failed notes why there is no connection to a server.
func (c *Client) failed(server string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures == nil {
		c.failures = make(map[string]error)
	}
	c.failures[server] = err
}

// succeeded notes that there is a connection.
func (c *Client) succeeded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = nil
}

// noSession is what a caller is told whose wait for a session has ended by
// cause: the last error of each server.
func (c *Client) noSession(cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.failures) == 0 {
		return cause
	}
	var format strings.Builder
	args := []any{cause}
	for _, server := range slices.Sorted(maps.Keys(c.failures)) {
		if len(args) > 1 {
			format.WriteString("; ")
		}
		format.WriteString("%w")
		args = append(args, c.failures[server])
	}
	return fmt.Errorf("%w (last: "+format.String()+")", args...)
}
