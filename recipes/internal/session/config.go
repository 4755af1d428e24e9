package session

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/internal/zkconn"
)

// Config holds the options of the sessions of one client.
type Config struct {
	Servers       []string
	Timeout       time.Duration // the session timeout to ask for
	Tick          time.Duration // the servers'; 0: not known
	MaxPacket     int           // the servers' jute.maxbuffer
	LoseOnSuspend bool          // leases are lost when their link is down
	ACL           []zk.ACL      // of parents that are created
	Auths         []Auth
	SASL          zkconn.Mechanism // nil: none
	Dial          func(ctx context.Context, network, addr string) (net.Conn, error)
	TLS           *tls.Config // nil: none
	Clock         Clock
	Lookup        func(ctx context.Context, host string) (addresses []string, err error) // nil: Dial tries all addresses of a name
	Callbacks     *Callbacks                                                             // the user's code that goroutines of sessions call; Told is not part of it

	// Told is called with each change of the client's connection state. It must not block,
	// nor use the session.
	Told func(State)
}

// Auth is a credential with which every session authenticates.
type Auth struct {
	Scheme string
	Secret func() []byte // a function, so that no %v of a Client shows it
}

// slack is the difference between the longest reply of a server and the longest request: a
// node of the largest size comes with its status.
const slack = 1 << 10

// open opens a connection to a server: by the dialer, TLS over it, and SASL over that,
// which has to end within patience.
func (c *Config) open(ctx context.Context, network, addr string, patience time.Duration) (conn net.Conn, err error) {
	c.Callbacks.Run(func() { conn, err = c.transport(ctx, network, addr) })
	if err != nil || c.SASL == nil {
		return conn, err
	}
	return zkconn.WithSASL(conn, addr, c.SASL, patience, func(answer []byte) bool {
		h := parseHandshake(answer)
		return h.implausible(h.session, c.Timeout) == nil // the session checks the answer afterwards
	}), nil
}

// toward returns the config with a dialer that connects to one address of a name. TLS and
// SASL still use the name.
func (c *Config) toward(address string) *Config {
	d := *c
	d.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) { return c.Dial(ctx, network, address) }
	return &d
}

// transport opens the connection below SASL. The user's code may run in it: the dialer, and
// the callbacks of a tls.Config.
func (c *Config) transport(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := c.Dial(ctx, network, addr)
	if err != nil || c.TLS == nil {
		return raw, err
	}
	config := c.TLS
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
		return nil, handshakeError(err)
	}
	return conn, nil
}
