package ensemble

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

const (
	sessionTimeout = 10 * time.Second
	handshakeLimit = 3 * time.Second
)

// connect opens a session for this package's own housekeeping. The caller closes it,
// which also ends calls that wait for a server: those calls take no context.
func connect(ctx context.Context, servers []string, auth Credentials) (*zk.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	why := failure{refused: make(chan struct{})}
	ready := make(chan struct{}, 1)
	conn, _, err := zk.Connect(servers, sessionTimeout,
		zk.WithLogger(&why),
		zk.WithLogInfo(false),
		zk.WithDialer(auth.dialCapped),
		zk.WithEventCallback(func(event zk.Event) {
			if event.State == zk.StateHasSession {
				select {
				case ready <- struct{}{}:
				default:
				}
			}
		}))
	if err != nil {
		return nil, err
	}
	select {
	case <-ready:
		if err := auth.Add(ctx, conn); err != nil {
			conn.Close()
			return nil, err
		}
		return conn, nil
	case <-why.refused:
	case <-ctx.Done():
	}
	conn.Close()
	return nil, why.reason()
}

// failure is a logger of go-zookeeper that remembers the reason why there is no session.
type failure struct {
	refused chan struct{} // closed: there will be no session

	mu   sync.Mutex
	last error
}

// Printf implements zk.Logger.
func (f *failure) Printf(_ string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			if errors.Is(err, zk.ErrAuthFailed) && !errors.Is(f.last, zk.ErrAuthFailed) {
				close(f.refused)
			}
			f.last = err
		}
	}
}

func (f *failure) reason() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var timeout net.Error
	if f.last == nil || errors.As(f.last, &timeout) && timeout.Timeout() {
		return fmt.Errorf("no session: no answer within %v", handshakeLimit)
	}
	return fmt.Errorf("no session: %w", f.last)
}

// CapHandshake bounds the wait of go-zookeeper's handshake on conn to a few seconds.
// Otherwise it is several session timeouts, and outlives Close. session is the timeout
// that the session is to have.
func CapHandshake(conn net.Conn, session time.Duration) net.Conn { return cappedConn{conn, session} }

type cappedConn struct {
	net.Conn
	session time.Duration
}

func (c Credentials) dialCapped(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, min(timeout, handshakeLimit))
	if err != nil {
		return nil, err
	}
	return CapHandshake(Guard(c.Authenticate(conn, address, handshakeLimit)), sessionTimeout), nil
}

func (c cappedConn) SetReadDeadline(t time.Time) error {
	if limit := time.Now().Add(c.session); t.After(limit) {
		t = time.Now().Add(handshakeLimit)
	}
	return c.Conn.SetReadDeadline(t)
}
