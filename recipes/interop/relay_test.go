package interop_test

import (
	"context"
	"io"
	"net"
	"sync"
)

// relay lets the Java process dial as the harness dials: what it connects to
// goes through dial. So the harness knows Curator's sessions, can expire them,
// and takes the network of a client away when it crashes.
type relay struct {
	listener net.Listener
	wg       sync.WaitGroup
	ctx      context.Context
	stop     context.CancelFunc
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// newRelay listens for connections to upstream.
func newRelay(upstream string, dial dialFunc) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l}
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.wg.Go(func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.wg.Go(func() { r.carry(conn, upstream, dial) })
		}
	})
	return r, nil
}

func (r *relay) addr() string { return r.listener.Addr().String() }

// carry ends when either side does, or with the relay.
func (r *relay) carry(down net.Conn, upstream string, dial dialFunc) {
	defer down.Close()
	up, err := dial(r.ctx, "tcp", upstream)
	if err != nil {
		return
	}
	defer up.Close()
	defer context.AfterFunc(r.ctx, func() {
		_ = up.Close()
		_ = down.Close()
	})()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(up, down)
		_ = up.Close()
	})
	_, _ = io.Copy(down, up)
	_ = down.Close()
	wg.Wait()
}

// close ends the relay and all that it carries.
func (r *relay) close() {
	_ = r.listener.Close()
	r.stop()
	r.wg.Wait()
}
