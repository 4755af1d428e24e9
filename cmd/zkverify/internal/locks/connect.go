package locks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// serversFlags choose the servers of the locks, and the way to connect to them.
type serversFlags struct {
	Addresses []string      `name:"servers" env:"ZKVERIFY_SERVERS" default:"127.0.0.1:2181" help:"The servers, as ZooKeeper's connect string: host:port each, and behind the last a chroot, below which all paths are then; default $$ZKVERIFY_SERVERS, then 127.0.0.1:2181. Name all of them: each tells only of its own connections." placeholder:"ADDR"`
	AuthFile  string        `help:"File with what to authenticate by, scheme:secret, such as digest:user:password, sasl:digest-md5:user:password or sasl:gssapi:keytab=FILE; default none." placeholder:"FILE"`
	TLS       bool          `name:"tls" help:"Connect with TLS. So do the other options of TLS."`
	TLSCA     string        `name:"tls-ca" help:"File with the certificates of authorities to trust, PEM; default the system's." placeholder:"FILE"`
	TLSCert   string        `name:"tls-cert" help:"File with a certificate to show to the servers, PEM; default none." placeholder:"FILE"`
	TLSKey    string        `name:"tls-key" help:"File with its key, PEM; default the file of --tls-cert." placeholder:"FILE"`
	Timeout   time.Duration `default:"15s" help:"How long to wait for a server that answers."`

	chroot string // of --servers, "" for none
}

// Validate is called by kong.
func (f *serversFlags) Validate() error {
	servers, chroot, err := recipes.ParseServers(f.Addresses)
	if err != nil {
		return fmt.Errorf("--servers: %w", err)
	}
	f.Addresses, f.chroot = servers, chroot
	switch {
	case f.Timeout <= 0:
		return fmt.Errorf("--timeout must be positive, not %v", f.Timeout)
	case f.TLSKey != "" && f.TLSCert == "":
		return errors.New("--tls-key goes with --tls-cert")
	}
	return nil
}

// sessionTimeout is the timeout of the command's own session.
const sessionTimeout = 10 * time.Second

// packetLimit bounds a reply of the servers: a list of 100,000 contenders is 6 MB.
const packetLimit = 8 << 20

// open connects to the servers.
func (f *serversFlags) open(ctx context.Context) (*servers, error) {
	bounded, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	bounded, failed := context.WithCancelCause(bounded)
	defer failed(nil)
	options := []recipes.Option{recipes.WithSessionTimeout(sessionTimeout), recipes.WithJuteMaxBuffer(packetLimit)}
	if f.AuthFile != "" {
		text, err := os.ReadFile(f.AuthFile)
		if err != nil {
			return nil, refuse("--auth-file: %w", err)
		}
		c, err := ensemble.ReadCredentials(string(text))
		if err != nil {
			return nil, refuse("--auth-file: %s: %w", f.AuthFile, err)
		}
		if m := c.SASL(); m != nil {
			options = append(options, recipes.WithSASL(&impatient{SASLMechanism: m, tries: len(f.Addresses), failed: failed}))
		} else {
			options = append(options, recipes.WithAuth(c.Scheme(), c.Secret()))
		}
	}
	conf, err := f.tls()
	if err != nil {
		return nil, err
	}
	s := &servers{addresses: f.Addresses, chroot: f.chroot, patience: f.Timeout, dial: new(net.Dialer).DialContext}
	if conf != nil {
		options = append(options, recipes.WithTLS(conf))
		s.dial = (&tls.Dialer{Config: conf}).DialContext
	}
	if s.client, err = recipes.Connect(bounded, f.Addresses, options...); err != nil {
		if ctx.Err() != nil {
			return nil, interrupted(ctx)
		}
		if cause := context.Cause(bounded); errors.Is(cause, errNoToken) {
			return nil, &Exit{exitUnavailable, cause}
		}
		if errors.Is(err, zk.ErrAuthFailed) {
			return nil, &Exit{exitUnsure, fmt.Errorf("the client is not authenticated (--auth-file): %w", err)}
		}
		return nil, &Exit{exitUnavailable, fmt.Errorf("no connection to %s: %w", strings.Join(f.Addresses, ", "), err)}
	}
	s.ctx, s.forget = ctx, context.AfterFunc(ctx, s.end) // ends requests that are under way
	if f.chroot == "" {
		return s, nil
	}
	there, _, err := s.Exists("/")
	switch {
	case err == nil && there:
		return s, nil
	case err == nil:
		err = refuse("--servers: the chroot %s does not exist", f.chroot)
	default:
		err = explain(ctx, err)
	}
	s.close()
	return nil, err
}

// errNoToken is the error of a client that cannot authenticate since it gets no tokens.
var errNoToken = errors.New("the client cannot authenticate (--auth-file)")

// impatient is a mechanism that gives up when it has failed on this machine for each of the
// servers, as that of Kerberos does while the KDC is away. A client of recipes goes on trying.
type impatient struct {
	recipes.SASLMechanism
	tries  int
	failed context.CancelCauseFunc
	done   atomic.Int64 // tries that have failed
}

// Start implements [recipes.SASLMechanism].
func (m *impatient) Start(ctx context.Context, server string) ([]byte, func([]byte) ([]byte, error), error) {
	first, next, err := m.SASLMechanism.Start(ctx, server)
	if err != nil && m.done.Add(1) >= int64(m.tries) {
		m.failed(fmt.Errorf("%w: %w", errNoToken, err))
	}
	return first, next, err
}

func (f *serversFlags) tls() (*tls.Config, error) {
	if !f.TLS && f.TLSCA == "" && f.TLSCert == "" {
		return nil, nil
	}
	conf := new(tls.Config)
	if f.TLSCA != "" {
		text, err := os.ReadFile(f.TLSCA)
		if err != nil {
			return nil, refuse("--tls-ca: %w", err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(text) {
			return nil, refuse("--tls-ca: %s has no certificate in PEM", f.TLSCA)
		}
	}
	if f.TLSCert != "" {
		key := f.TLSKey
		if key == "" {
			key = f.TLSCert
		}
		pair, err := tls.LoadX509KeyPair(f.TLSCert, key)
		if err != nil {
			return nil, refuse("--tls-cert: %w", err)
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return conf, nil
}

// servers is a connection to an ensemble. It is an [inspect.Writer] whose reads are repeated
// when the connection is lost.
type servers struct {
	ctx       context.Context
	forget    func() bool
	client    *recipes.Client
	addresses []string
	chroot    string
	dial      inspect.Dial
	patience  time.Duration
}

// closeLimit bounds the time to close the session. If that fails, the servers expire it.
const closeLimit = 2 * time.Second

func (s *servers) close() {
	s.forget()
	s.end()
}

func (s *servers) end() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	_ = s.client.Close(ctx) //nolint:errcheck // nothing is left but a session that expires
}

// sessions asks all servers for their sessions. A server that is silent for s.patience stays unasked.
func (s *servers) sessions() *inspect.Sessions {
	ctx, cancel := context.WithTimeout(s.ctx, s.patience)
	defer cancel()
	return inspect.ReadSessions(ctx, s.dial, s.addresses, s.client.SessionID())
}

// retryWait is the time between two checks for a new connection.
const retryWait = 50 * time.Millisecond

// reply is the reply to a request: the fields that the request asks for.
type reply struct {
	names     []string
	data      []byte
	there     bool
	stat      *zk.Stat
	responses []zk.MultiResponse
	err       error
}

// errSilent is the error of a request without a reply.
var errSilent = errors.New("no server answers")

// request makes a request, and waits for its reply, at most for this time. A request of zk.Conn
// itself waits for as long as there is no connection.
func (s *servers) request(most time.Duration, ask func(*zk.Conn) reply) reply {
	conn := s.client.Conn()
	if conn == nil {
		return reply{err: zk.ErrConnectionClosed}
	}
	replies := make(chan reply, 1)
	go func() { replies <- ask(conn) }() // ends with the reply, or when close ends the connection
	patience := time.NewTimer(most)
	defer patience.Stop()
	select {
	case r := <-replies:
		return r
	case <-patience.C:
		return reply{err: errSilent}
	case <-s.ctx.Done():
		return reply{err: context.Cause(s.ctx)}
	}
}

// repeat makes a request, and repeats it while there is no connection, for s.patience in all.
func (s *servers) repeat(ask func(*zk.Conn) reply) reply {
	for end := time.Now().Add(s.patience); ; {
		r := s.request(time.Until(end), ask)
		if s.ctx.Err() != nil {
			return reply{err: context.Cause(s.ctx)}
		}
		if !unconnected(r.err) {
			return r
		}
		if !time.Now().Before(end) {
			return reply{err: s.lost(r.err)}
		}
		select {
		case <-time.After(min(retryWait, time.Until(end))):
		case <-s.ctx.Done():
		}
	}
}

// lost returns the error of a command whose servers have gone away for good.
func (s *servers) lost(err error) error {
	return &Exit{exitUnavailable, fmt.Errorf("the connection to %s is lost, and was not back within %v: %w", strings.Join(s.addresses, ", "), s.patience, err)}
}

func unconnected(err error) bool {
	for _, e := range []error{zk.ErrConnectionClosed, zk.ErrClosing, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrNoServer, errSilent} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// whole returns the absolute path of a path below the chroot.
func (s *servers) whole(path string) string {
	if s.chroot != "" && path == "/" {
		return s.chroot
	}
	return s.chroot + path
}

// Children implements [inspect.Source].
func (s *servers) Children(path string) ([]string, *zk.Stat, error) {
	r := s.repeat(func(conn *zk.Conn) (r reply) {
		r.names, r.stat, r.err = conn.Children(s.whole(path))
		return r
	})
	return r.names, r.stat, r.err
}

// Get implements [inspect.Source].
func (s *servers) Get(path string) ([]byte, *zk.Stat, error) {
	r := s.repeat(func(conn *zk.Conn) (r reply) {
		r.data, r.stat, r.err = conn.Get(s.whole(path))
		return r
	})
	return r.data, r.stat, r.err
}

// Exists implements [inspect.Source].
func (s *servers) Exists(path string) (bool, *zk.Stat, error) {
	r := s.repeat(func(conn *zk.Conn) (r reply) {
		r.there, r.stat, r.err = conn.Exists(s.whole(path))
		return r
	})
	return r.there, r.stat, r.err
}

// Multi implements [inspect.Writer]. It is not repeated: a request whose answer is lost may have
// been carried out.
func (s *servers) Multi(ops ...any) ([]zk.MultiResponse, error) {
	below := make([]any, len(ops))
	for i, op := range ops {
		switch op := op.(type) {
		case *zk.DeleteRequest:
			below[i] = &zk.DeleteRequest{Path: s.whole(op.Path), Version: op.Version}
		default: // the commands only delete
			return nil, fmt.Errorf("locks: a %T", op)
		}
	}
	r := s.request(s.patience, func(conn *zk.Conn) (r reply) {
		r.responses, r.err = conn.Multi(below...)
		return r
	})
	return r.responses, r.err
}

// explain gives an error of a read its exit status, and a text with advice.
func explain(ctx context.Context, err error) error {
	var exit *Exit
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return interrupted(ctx)
	case errors.As(err, &exit):
		return err
	case errors.Is(err, inspect.ErrFree):
		return refuse("%w: a lock that is not in use looks so, and any node without children", err)
	case errors.Is(err, inspect.ErrNoLock):
		return refuse("%w: its children are no contenders; zkverify locks ls finds the locks below a path", err)
	case errors.Is(err, zk.ErrNoNode), errors.Is(err, recipes.ErrBadPath), errors.Is(err, recipes.ErrBadCount):
		return refuse("%w", err)
	case errors.Is(err, zk.ErrNoAuth):
		return &Exit{exitUnsure, fmt.Errorf("%w: give credentials that may do it by --auth-file", err)}
	case unconnected(err):
		return &Exit{exitUnavailable, err}
	}
	return &Exit{exitUnsure, err}
}

func interrupted(ctx context.Context) error {
	return &Exit{exitUnsure, fmt.Errorf("interrupted: %w", context.Cause(ctx))}
}
