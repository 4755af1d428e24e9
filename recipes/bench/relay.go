package main

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"

	"github.com/zkverify/zkverify/ensemble/links"
)

// traffic counts the requests and bytes that passed the relays.
type traffic struct {
	requests int64 // frames that clients sent, without pings
	bytes    int64 // both ways
}

func (t traffic) since(before traffic) traffic {
	return traffic{t.requests - before.requests, t.bytes - before.bytes}
}

// relays stand between clients and servers and count requests and bytes. There is one for
// each server, for clients in any language. Times taken through them mean nothing.
type relays struct {
	addrs    []string
	open     []*links.Relay
	requests atomic.Int64
	bytes    atomic.Int64
}

func newRelays(servers []string) (*relays, error) {
	r := &relays{}
	for _, server := range servers {
		one, err := links.OpenRelay(func(ctx context.Context) (net.Conn, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, "tcp", server)
			if err != nil {
				return nil, err
			}
			return &counted{Conn: conn, relays: r, frames: frames{count: &r.requests}}, nil
		})
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.open, r.addrs = append(r.open, one), append(r.addrs, one.Addr())
	}
	return r, nil
}

func (r *relays) count() traffic { return traffic{r.requests.Load(), r.bytes.Load()} }

// close ends every link and waits for the goroutines.
func (r *relays) close() error {
	var errs []error
	for _, one := range r.open {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// counted is a link to a server that counts requests and bytes.
type counted struct {
	net.Conn
	relays *relays
	frames frames
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.relays.bytes.Add(int64(n))
	return n, err
}

func (c *counted) Write(p []byte) (int, error) {
	// Counted first: the request may be answered before Write returns.
	c.relays.bytes.Add(int64(len(p)))
	c.frames.see(p)
	return c.Conn.Write(p)
}

// xidPing is the number of pings, in place of a request's.
const xidPing = -2

// frames counts the requests in a client's output: each is a length of four bytes, a number
// of four bytes, and the rest.
type frames struct {
	count *atomic.Int64
	head  [8]byte
	have  int // bytes of head
	skip  int // bytes of the frame still to come after head
}

// see counts the requests that begin in p.
func (f *frames) see(p []byte) {
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
}
