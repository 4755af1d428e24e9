// Package relay stands in front of a server's port.
package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Relay stands between the links and a server's port and waits for the port to
// open.
//
// An elected leader opens its quorum port a moment after its followers dial it.
// Refused, a follower dials again, and no harm is done. But Toxiproxy accepts a
// connection before it dials the upstream, and closes it when that is refused:
// the follower believes that it reached the leader and lost it, goes back to the
// election, and finds a leader that sits out its initLimit first. Measured, that
// made half of the elections last 3.4 to 8.2 s instead of 1.2.
type Relay struct {
	listener net.Listener
	target   func() string
	ctx      context.Context // ends at Close
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

const (
	patience   = 500 * time.Millisecond // for a port that opens within milliseconds
	retryEvery = 5 * time.Millisecond
)

// Open opens a relay on a loopback port. Where it leads is asked for each
// connection: a container can have another address each time that it starts.
func Open(target func() string) (*Relay, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // never closed and opened again: any port will do
	if err != nil {
		return nil, err
	}
	r := &Relay{listener: listener, target: target}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.running.Go(r.accept) // ends when Close closes the listener
	return r, nil
}

// Port is where the relay listens.
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
	far, err := r.dial()
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

// dial dials the target until it accepts, for as long as patience lasts.
func (r *Relay) dial() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	retry := time.NewTicker(retryEvery)
	defer retry.Stop()
	for {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, "tcp", r.target())
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-retry.C:
		}
	}
}
