package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// sessionTimeout is the session timeout that every peer asks for. Package recipes sends a
// heartbeat each sixth of it, so a long timeout would flatter the package.
const sessionTimeout = 10 * time.Second

var openACL = zk.WorldACL(zk.PermAll)

// connectZK opens a session of go-zookeeper with one server.
func connectZK(ctx context.Context, server string) (*zk.Conn, error) {
	conn, events, err := zk.Connect([]string{server}, sessionTimeout, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	session := make(chan struct{})
	// Ends when the connection's loop has ended, which closes events.
	go func() {
		open := false
		for e := range events {
			if e.State == zk.StateHasSession && !open {
				open = true
				close(session)
			}
		}
	}()
	select {
	case <-session:
		return conn, nil
	case <-ctx.Done():
		conn.Close()
		return nil, fmt.Errorf("no session with %s: %w", server, context.Cause(ctx))
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// onConn is a library whose sessions consist only of a connection of go-zookeeper, for
// locks of the kind mutex.
type onConn struct {
	lock func(conn *zk.Conn, path string) lock
}

func (o onConn) connect(ctx context.Context, server string) (session, error) {
	conn, err := connectZK(ctx, server)
	if err != nil {
		return nil, err
	}
	return connSession{conn, o.lock}, nil
}

type connSession struct {
	conn *zk.Conn
	make func(conn *zk.Conn, path string) lock
}

func (s connSession) lock(w work, _ int) (lock, error) {
	if w.kind != mutex {
		return nil, fmt.Errorf("no lock of kind %s", w.kind)
	}
	return s.make(s.conn, w.path), nil
}

func (s connSession) close() { s.conn.Close() }
