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

// config is what the options of Connect set.
type config struct {
	session.Config
	observer  Observer
	namespace *string
	identity  string
	listeners []func(ConnectionState)
}

// Option configures a Client.
type Option func(*config)

// WithSessionTimeout asks the servers for this session timeout; they may
// negotiate another within their minSessionTimeout and maxSessionTimeout (2 and
// 20 ticks unless configured). A crashed holder blocks others for about this
// long. Default 10 s.
func WithSessionTimeout(d time.Duration) Option {
	return func(c *config) { c.Timeout = d }
}

// WithIdentity says who the client is. It is the data of every node of the client's locks,
// elections and barriers for which [WithData] sets none. So whoever sees the queue of a lock
// sees who holds it: users of [Mutex.Participants], of zkverify locks, of zkCli.sh and of
// Curator, whose own clients write their address there. It is text of at most 512 bytes
// without control characters: for any other, Connect returns [ErrBadIdentity]. An empty
// identity leaves the nodes empty. Default: the name of the host and the number of the
// process, as in "web-3/4711".
func WithIdentity(identity string) Option {
	return func(c *config) { c.identity = identity }
}

// check refuses what no client can be made with.
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

// checkTimeouts refuses what a session cannot be negotiated or its leases cannot
// be judged with. ZooKeeper counts milliseconds in 32 bits.
func (c *config) checkTimeouts() error {
	if c.Timeout < time.Millisecond || c.Timeout.Milliseconds() > math.MaxInt32 {
		return fmt.Errorf("%w: a session timeout of %v", ErrBadTimeout, c.Timeout)
	}
	if c.Tick < 0 {
		return fmt.Errorf("%w: a server tick of %v", ErrBadTimeout, c.Tick)
	}
	return nil
}

// WithServerTick tells the servers' tickTime. The second request of a heartbeat comes half a
// tick after the first (see internal/session/evidence.go), so a tick that is taken for too
// short is unsafe, and one that is taken for too long only makes leases end earlier when the
// network fails. The client takes no tick for shorter than half of the servers'
// minSessionTimeout, for which it asks. So this option can do harm only where that is less
// than two ticks, ZooKeeper's default. Default: 2 s, or half the negotiated session timeout
// if that is less.
func WithServerTick(d time.Duration) Option {
	return func(c *config) { c.Tick = d }
}

// juteMaxBuffer is what servers take, unless configured. They answer a larger
// packet by cutting the connection, and every repetition of it too.
const juteMaxBuffer = 1<<20 - 1

// WithJuteMaxBuffer tells the servers' jute.maxbuffer, in bytes, where it is not
// the default: from 4096 to 1 GiB. A request that is larger is not sent, and
// returns [ErrTooLarge]. So does a request whose reply is larger, by more than a
// kilobyte: the reply is read past, and no memory is taken for it. Servers do not
// bound their lists of nodes: a lock with more than 15,000 contenders needs more than
// the default, and its acquires fail without it.
// Each session has a buffer of this size. Default 1048575.
func WithJuteMaxBuffer(bytes int) Option {
	return func(c *config) { c.MaxPacket = bytes }
}

func (c *config) checkMaxPacket() error {
	if c.MaxPacket < 1<<12 || c.MaxPacket > 1<<30 {
		return fmt.Errorf("%w: a jute.maxbuffer of %d bytes", ErrBadSize, c.MaxPacket)
	}
	return nil
}

// LossPolicy says when a lease whose session has lost its link is lost.
type LossPolicy int

const (
	// LoseOnDeadline keeps a lease until the last instant at which the servers
	// cannot have expired its session: it survives short faults. The default.
	LoseOnDeadline LossPolicy = iota
	// LoseOnSuspend gives a lease up as soon as its link is down.
	LoseOnSuspend
)

// WithLossPolicy sets the policy. Default LoseOnDeadline.
func WithLossPolicy(p LossPolicy) Option {
	return func(c *config) { c.LoseOnSuspend = p == LoseOnSuspend }
}

// WithACL sets the access control list of every node that the client creates:
// contenders, for which WithLockACL may say otherwise, and the lock's path and
// what is missing above it. Create shared directories beforehand if others are
// to use them too. Default: open to the world.
//
// A client that uses a lock needs read, create and delete, and write for
// Client.Revoke. Whether a contender's node may be deleted is up to the list of
// the lock's path, not to the node's own.
func WithACL(acl ...zk.ACL) Option {
	return func(c *config) { c.ACL = append([]zk.ACL{}, acl...) }
}

// WithAuth authenticates every session by a scheme ("digest") and its
// credentials ("user:password"). May be given more than once. The credentials
// are sent in the clear unless there is WithTLS; they appear in no error and no
// log. The servers do not tell whether a password is right: with a wrong one,
// calls return zk.ErrNoAuth.
func WithAuth(scheme string, cred []byte) Option {
	cred = append([]byte{}, cred...)
	return func(c *config) {
		c.Auths = append(c.Auths, session.Auth{Scheme: scheme, Secret: func() []byte { return cred }})
	}
}

// WithTLS makes every connection one of TLS, to the servers' secureClientPort.
// A nil conf is the zero one. Unless it names a ServerName, a server's
// certificate must be valid for the host that was given to Connect. Servers ask
// for a certificate of the client unless they were told ssl.clientAuth=none: set
// conf.Certificates. Composes with WithDialer, which opens what is under TLS.
func WithTLS(conf *tls.Config) Option {
	if conf == nil {
		conf = new(tls.Config)
	}
	conf = conf.Clone() // the caller may go on to change it
	return func(c *config) { c.TLS = conf }
}

// WithDialer replaces net.Dialer, for a proxy, say. The context ends when the
// attempt takes too long or the client is closed. The dialer is given the names of servers as
// they are: which addresses of a name get their try is up to it, see [Connect].
func WithDialer(dial func(ctx context.Context, network, addr string) (net.Conn, error)) Option {
	return func(c *config) { c.Dial = dial }
}

// WithObserver sets functions that are told what happens to the client's locks. May be
// given more than once: each observer is told, in this order, as by Observers. Packages
// slogobserver, promobserver and otelobserver have some that are ready to use.
func WithObserver(o Observer) Option {
	return func(c *config) { c.observer = Observers(c.observer, o) }
}

// WithConnectionListener sets a function that is told how the client stands with
// its ensemble, see ConnectionState. May be given more than once. The calls come
// in order, from the goroutine that the observer is called from: a slow listener
// delays no lock, and may use the client, and close it.
func WithConnectionListener(f func(ConnectionState)) Option {
	return func(c *config) { c.listeners = append(c.listeners, f) }
}

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
	if err := session.CheckPath(*c.namespace); err != nil {
		return fmt.Errorf("%w: namespace %q", err, *c.namespace)
	}
	return nil
}
