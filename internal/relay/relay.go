// Package relay stands in front of a server's port: whoever connects to it is
// connected with the server, by a dial function that the relay is given.
package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// Relay carries connections to a server until it is closed.
type Relay struct {
	listener net.Listener
	dial     Dialer
	ctx      context.Context // ends at Close
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// Dialer connects one connection of a relay with the server. It is asked for each
// anew, ends with its context, and may return a connection that counts what passes.
type Dialer func(context.Context) (net.Conn, error)

// Open opens a relay on a loopback port.
func Open(dial Dialer) (*Relay, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // never closed and opened again: any port will do
	if err != nil {
		return nil, err
	}
	r := &Relay{listener: listener, dial: dial}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.running.Go(r.accept) // ends when Close closes the listener
	return r, nil
}

// Addr is where the relay listens, as host:port.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Port is the port of Addr.
func (r *Relay) Port() int { return r.listener.Addr().(*net.TCPAddr).Port }

// Close closes the relay and its connections and waits for its goroutines.
func (r *Relay) Close() error {
	r.cancel()
	err := r.listener.Close()
	r.running.Wait()
	return err
}

func (r *Relay) accept() {
	for {
		near, err := r.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // the one who dialled gave up
		}
		r.running.Go(func() { r.carry(near) }) // ends when either side closes, or at Close
	}
}

// carry copies both ways until one side closes, then closes both.
func (r *Relay) carry(near net.Conn) {
	defer near.Close()
	far, err := r.dial(r.ctx)
	if err != nil {
		return
	}
	defer far.Close()
	stop := context.AfterFunc(r.ctx, func() { near.Close(); far.Close() })
	defer stop()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, far)
		near.Close()
	})
	_, _ = io.Copy(far, near)
	far.Close()
	back.Wait()
}
