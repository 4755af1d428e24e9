package main

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// traffic is what passed the relays.
type traffic struct {
	requests int64 // frames that clients sent, without pings
	bytes    int64 // both ways
}

func (t traffic) since(before traffic) traffic {
	return traffic{t.requests - before.requests, t.bytes - before.bytes}
}

// relays stand between clients and servers and count what passes: one for each
// server, whatever language its client is written in. Times taken through them
// mean nothing.
type relays struct {
	addrs     []string
	listeners []net.Listener
	requests  atomic.Int64
	bytes     atomic.Int64

	mu    sync.Mutex
	conns []net.Conn
	wg    sync.WaitGroup
}

func newRelays(servers []string) (*relays, error) {
	r := &relays{}
	for _, server := range servers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			r.close()
			return nil, err
		}
		r.listeners = append(r.listeners, l)
		r.addrs = append(r.addrs, l.Addr().String())
		r.wg.Go(func() { r.serve(l, server) }) // ends when close closes the listener
	}
	return r, nil
}

func (r *relays) count() traffic { return traffic{r.requests.Load(), r.bytes.Load()} }

func (r *relays) serve(l net.Listener, server string) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		upstream, err := net.Dial("tcp", server)
		if err != nil {
			client.Close() // the client sees a link that ends
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, client, upstream)
		r.mu.Unlock()
		// They end with either connection.
		r.wg.Go(func() { r.carry(upstream, client, &frames{count: &r.requests}) })
		r.wg.Go(func() { r.carry(client, upstream, io.Discard) })
	}
}

func (r *relays) carry(to, from net.Conn, counted io.Writer) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			// Counted first: it may be answered before Write returns.
			r.bytes.Add(int64(n))
			_, _ = counted.Write(buffer[:n]) // cannot fail
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// close ends every link and waits for the goroutines.
func (r *relays) close() error {
	var errs []error
	for _, l := range r.listeners {
		errs = append(errs, l.Close())
	}
	r.mu.Lock()
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
	return errors.Join(errs...)
}

// xidPing is the number that pings carry in place of a request's.
const xidPing = -2

// frames counts the requests in what a client writes: each is a length of four
// bytes, a number of four bytes, and the rest.
type frames struct {
	count *atomic.Int64
	head  [8]byte
	have  int // bytes of head
	skip  int // bytes of the frame still to come after head
}

func (f *frames) Write(p []byte) (int, error) {
	whole := len(p)
	for len(p) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(p))
			f.skip -= n
			p = p[n:]
			continue
		}
		n := copy(f.head[f.have:], p)
		f.have += n
		p = p[n:]
		if f.have < len(f.head) {
			continue
		}
		f.have = 0
		f.skip = int(binary.BigEndian.Uint32(f.head[:])) - 4
		if int32(binary.BigEndian.Uint32(f.head[4:])) != xidPing {
			f.count.Add(1)
		}
	}
	return whole, nil
}
