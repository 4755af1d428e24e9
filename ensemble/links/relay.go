package links

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// Relay carries connections to a server until it is closed. It listens on a port of its own and
// connects each client to the server by a dial function. Unlike a link it has one condition.
type Relay struct {
	listener net.Listener
	dial     func(ctx context.Context, near net.Conn) (net.Conn, error)
	ctx      context.Context // ends at Close
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// RelayDialer opens the connection to the server for one connection of a relay. It is called for
// each connection anew and must return when its context ends. It may return a connection
// that counts requests and bytes.
type RelayDialer func(context.Context) (net.Conn, error)

// OpenRelay opens a relay on a loopback port.
func OpenRelay(dial RelayDialer) (*Relay, error) {
	return openRelay(func(ctx context.Context, _ net.Conn) (net.Conn, error) { return dial(ctx) })
}

func openRelay(dial func(context.Context, net.Conn) (net.Conn, error)) (*Relay, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // never closed and opened again: any port will do
	if err != nil {
		return nil, err
	}
	r := &Relay{listener: listener, dial: dial}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.running.Go(r.accept) // ends when Close closes the listener
	return r, nil
}

// Addr returns the address of the relay, as host:port.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Port returns the port of Addr.
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
			continue // the client gave up
		}
		r.running.Go(func() { r.carry(near) }) // ends when either side closes, or at Close
	}
}

// carry copies both ways until one side closes, then closes both.
func (r *Relay) carry(near net.Conn) {
	defer near.Close()
	stop := context.AfterFunc(r.ctx, func() { near.Close() })
	defer stop()
	far, err := r.dial(r.ctx, near)
	if err != nil {
		return
	}
	defer far.Close()
	stopFar := context.AfterFunc(r.ctx, func() { far.Close() })
	defer stopFar()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, far)
		near.Close()
	})
	_, _ = io.Copy(far, near)
	far.Close()
	back.Wait()
}
