package ensemble

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"time"

	"github.com/go-zookeeper/zk"
)

const (
	sessionTimeout = 10 * time.Second
	handshakeLimit = 3 * time.Second
)

// connect opens a session for this package's own housekeeping. The caller
// closes it, which also ends calls that wait for a server: they take no context.
func connect(ctx context.Context, servers []string, auth Credentials) (*zk.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	ready := make(chan struct{}, 1)
	conn, _, err := zk.Connect(servers, sessionTimeout,
		zk.WithLogger(log.New(io.Discard, "", 0)),
		zk.WithDialer(dialCapped),
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
	case <-ctx.Done():
		conn.Close()
		return nil, errors.New("no session")
	}
}

// cappedConn bounds the wait of go-zookeeper's handshake, which is otherwise
// several session timeouts and outlives Close.
type cappedConn struct{ net.Conn }

func dialCapped(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, min(timeout, handshakeLimit))
	if err != nil {
		return nil, err
	}
	return cappedConn{conn}, nil
}

func (c cappedConn) SetReadDeadline(t time.Time) error {
	if limit := time.Now().Add(sessionTimeout); t.After(limit) {
		t = time.Now().Add(handshakeLimit)
	}
	return c.Conn.SetReadDeadline(t)
}
