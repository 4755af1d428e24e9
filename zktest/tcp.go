package zktest

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/zkverify/zkverify/ensemble/model/live"
)

// listeners holds the TCP ports that clients without a dialer connect to, and their connections.
// Each connection has two goroutines that copy bytes; all end with the test.
type listeners struct {
	tasks sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	open   map[io.Closer]bool
	addrs  map[*Client][]string
}

// Addrs returns TCP addresses on this machine, one for each server in the order of their numbers,
// for a client that takes no dialer or is another process. The faults of the client apply to its
// connections there. A connection to a server that is down is accepted, and then closed. The test
// fails in a bubble, which has no network.
func (c *Client) Addrs() []string {
	e := c.ensemble
	e.tb.Helper()
	if e.inBubble {
		e.tb.Fatal("zktest: a bubble has no TCP, which would hold its clock: use Ensemble.Servers and a dialer")
	}
	e.tcp.mu.Lock()
	addrs := e.tcp.addrs[c]
	e.tcp.mu.Unlock()
	if addrs != nil {
		return append([]string(nil), addrs...)
	}
	for _, l := range c.links {
		addr, err := e.tcp.listen(l)
		if err != nil {
			e.tb.Fatalf("zktest: %v", err)
		}
		addrs = append(addrs, addr)
	}
	e.tcp.mu.Lock()
	defer e.tcp.mu.Unlock()
	if e.tcp.addrs == nil {
		e.tcp.addrs = map[*Client][]string{}
	}
	e.tcp.addrs[c] = addrs
	return append([]string(nil), addrs...)
}

// listen opens a port, and forwards its connections to a link until close.
func (t *listeners) listen(l *live.Link) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	if !t.add(listener) {
		return "", errors.New("the test's ensemble has ended")
	}
	t.tasks.Go(func() {
		for {
			tcp, err := listener.Accept()
			if err != nil {
				return
			}
			if t.add(tcp) {
				t.tasks.Go(func() { t.serve(l, tcp) })
			}
		}
	})
	return listener.Addr().String(), nil
}

// serve copies the bytes of a TCP connection, both ways.
func (t *listeners) serve(l *live.Link, tcp net.Conn) {
	defer t.remove(tcp)
	memory, err := l.Dial(context.Background(), "tcp", serverAddr(l.Server()))
	if err != nil {
		return
	}
	t.tasks.Go(func() {
		_, _ = io.Copy(tcp, memory)
		_ = tcp.Close()
	})
	_, _ = io.Copy(memory, tcp)
	_ = memory.Close()
}

// add registers c for close. After close it closes c at once, and reports false.
func (t *listeners) add(c io.Closer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		_ = c.Close()
		return false
	}
	if t.open == nil {
		t.open = map[io.Closer]bool{}
	}
	t.open[c] = true
	return true
}

func (t *listeners) remove(c io.Closer) {
	_ = c.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, c)
}

func (t *listeners) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for c := range t.open {
		_ = c.Close()
	}
}

// wait waits until all goroutines have ended. They end after close, when the engine has stopped.
func (t *listeners) wait() { t.tasks.Wait() }
