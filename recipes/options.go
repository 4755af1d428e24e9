package recipes

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// config holds the options of Connect.
type config struct {
	session.Config
	observer  Observer
	namespace *string
	identity  string
	listeners []func(ConnectionState)
}

// Option configures a Client.
type Option func(*config)

// WithSessionTimeout asks the servers for a session timeout of d, from a millisecond to 24 days.
// They may grant another one, within their minSessionTimeout and maxSessionTimeout (2 and 20 ticks
// unless configured). A crashed holder blocks other clients for about this long. Default 10 s.
func WithSessionTimeout(d time.Duration) Option {
	return func(c *config) { c.Timeout = d }
}

// WithIdentity sets the client's identity, which is the data of every node of the client's locks,
// elections and barriers for which [WithData] sets none. So [Mutex.Participants], zkverify locks,
// zkCli.sh and Curator show which client holds a lock. It is printable UTF-8 of at most 512 bytes;
// an empty one leaves the nodes empty. Default: the name of the host and the number of the process,
// as in "web-3/4711".
func WithIdentity(identity string) Option {
	return func(c *config) { c.identity = identity }
}

// check returns an error for options that no client can work with.
func (c *config) check() error {
	if err := c.checkNamespace(); err != nil {
		return err
	}
	if err := checkIdentity(c.identity); err != nil {
		return err
	}
	if err := c.checkTimeouts(); err != nil {
		return err
	}
	return c.checkMaxPacket()
}

// checkTimeouts returns an error for timeouts with which no session can be negotiated or no
// deadline of a lease computed. ZooKeeper counts milliseconds in 32 bits.
func (c *config) checkTimeouts() error {
	if c.Timeout < time.Millisecond || c.Timeout.Milliseconds() > math.MaxInt32 {
		return fmt.Errorf("%w: a session timeout of %v", ErrBadOption, c.Timeout)
	}
	if c.Tick < 0 {
		return fmt.Errorf("%w: a server tick of %v", ErrBadOption, c.Tick)
	}
	return nil
}

// WithServerTick tells the client the servers' tickTime, 0 or more. The second request of a
// heartbeat comes half a tick after the first (see internal/session/evidence.go), so a value that
// is too short is unsafe, and one that is too long only makes leases end earlier when the network
// fails. The client asks the servers for their minSessionTimeout, and assumes a tick of at least
// half of it, so this option can do harm only where minSessionTimeout is less than two ticks,
// ZooKeeper's default. Default: 2 s, or half the negotiated session timeout if that is less.
func WithServerTick(d time.Duration) Option {
	return func(c *config) { c.Tick = d }
}

// juteMaxBuffer is the largest packet that servers accept, unless configured. They cut the
// connection on a larger packet, and again on every repetition of it.
const juteMaxBuffer = 1<<20 - 1

// WithJuteMaxBuffer tells the client the servers' jute.maxbuffer, from 4096 bytes to 1 GiB. A
// larger request fails with [ErrTooLarge], and so does a reply that is larger by more than a
// kilobyte: the client skips it, and takes no memory for it. A lock with more than 15,000
// contenders needs more than the default. Each session has a buffer of this size. Default 1048575.
func WithJuteMaxBuffer(bytes int) Option {
	return func(c *config) { c.MaxPacket = bytes }
}

func (c *config) checkMaxPacket() error {
	if c.MaxPacket < 1<<12 || c.MaxPacket > 1<<30 {
		return fmt.Errorf("%w: a jute.maxbuffer of %d bytes", ErrBadOption, c.MaxPacket)
	}
	return nil
}

// LossPolicy determines when a lease is lost after its session has lost its link.
type LossPolicy int

const (
	// LoseOnDeadline keeps a lease until the last instant at which the servers cannot have expired its
	// session: the lease survives short faults. This is the default.
	LoseOnDeadline LossPolicy = iota
	// LoseOnSuspend gives a lease up as soon as its link is down.
	LoseOnSuspend
)

// WithLossPolicy sets the policy. Default LoseOnDeadline.
func WithLossPolicy(p LossPolicy) Option {
	return func(c *config) { c.LoseOnSuspend = p == LoseOnSuspend }
}

// WithACL sets the access control list of every node that the client creates: the contenders'
// nodes, for which WithLockACL may set another list, the node at the lock's path, and the missing
// nodes above it. Create shared directories beforehand if other clients are to use them too.
// Default: open to the world.
//
// A client that uses a lock needs read, create and delete, and write for Client.Revoke. The list
// of the lock's path, not that of a contender's node, determines whether the contender's node may
// be deleted.
func WithACL(acl ...zk.ACL) Option {
	return func(c *config) { c.ACL = append([]zk.ACL{}, acl...) }
}

// WithAuth authenticates every session by a scheme ("digest") and its credentials
// ("user:password"), which are sent in the clear without [WithTLS], and appear in no error and no
// log. May be given more than once. The servers do not report a wrong password: calls return
// zk.ErrNoAuth.
func WithAuth(scheme string, cred []byte) Option {
	cred = append([]byte{}, cred...)
	return func(c *config) {
		c.Auths = append(c.Auths, session.Auth{Scheme: scheme, Secret: func() []byte { return cred }})
	}
}

// WithTLS uses TLS for every connection, to the servers' secureClientPort. A nil conf stands for
// the zero tls.Config. Unless conf has a ServerName, a server's certificate must be valid for the
// host that was given to Connect. Servers ask for a certificate of the client unless they are
// configured with ssl.clientAuth=none: set conf.Certificates. Composes with WithDialer, which
// opens the connection under TLS.
func WithTLS(conf *tls.Config) Option {
	if conf == nil {
		conf = new(tls.Config)
	}
	conf = conf.Clone() // the caller may go on to change it
	return func(c *config) { c.TLS = conf }
}

// WithDialer replaces net.Dialer, for a proxy, say. The context ends when the
// attempt takes too long or the client is closed. The dialer gets the servers' names unresolved,
// and decides which addresses of a name to try, see [Connect].
func WithDialer(dial func(ctx context.Context, network, addr string) (net.Conn, error)) Option {
	return func(c *config) { c.Dial = dial }
}

// WithObserver adds an observer of the client's locks. May be given more than once: the client
// calls the observers in this order. Packages slogobserver, promobserver and
// otelobserver have observers that are ready to use.
func WithObserver(o Observer) Option {
	return func(c *config) { c.observer = observers(c.observer, o) }
}

// WithConnectionListener adds a function that the client calls with each new ConnectionState, in
// order, in the goroutine that calls the [Observer]. May be given more than once.
func WithConnectionListener(f func(ConnectionState)) Option {
	return func(c *config) { c.listeners = append(c.listeners, f) }
}

// WithNamespace puts every path that the client's recipes are given below prefix, an absolute
// ZooKeeper path. With "/app" a lock at "/orders" is at "/app/orders" for other clients and in all
// reported paths, such as [Lease.Path]. Methods that take a reported path, such as [Client.Revoke],
// take the full path; Conn does not apply the namespace. Default: none.
func WithNamespace(prefix string) Option {
	return func(c *config) { c.namespace = &prefix }
}

func (c *config) checkNamespace() error {
	if c.namespace == nil {
		return nil
	}
	if err := session.CheckPath(*c.namespace); err != nil {
		return fmt.Errorf("%w: namespace %q", err, *c.namespace)
	}
	return nil
}
