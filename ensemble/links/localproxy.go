package links

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
)

// localProxy has the toxics of one of Toxiproxy's proxies, and accepts connections
// itself. Toxiproxy's own proxy stops writing to a connection at the first error, and
// leaves goroutines that offer it more data for ever.
type localProxy struct {
	server   *toxiproxy.ApiServer
	toxics   *toxiproxy.ToxicCollection
	upstream string
	abrupt   atomic.Bool // new connections end with a reset
	listener net.Listener

	dialing context.Context
	stopped context.CancelFunc
	work    sync.WaitGroup // the accept loop and the dials

	mu    sync.Mutex
	conns map[net.Conn]bool // nil once the proxy is stopped
	count int
}

func newLocalProxy(server *toxiproxy.ApiServer, name, listen, upstream string) *localProxy {
	p := &localProxy{server: server, toxics: toxiproxy.NewProxy(server, name, listen, upstream).Toxics, upstream: upstream, conns: map[net.Conn]bool{}}
	p.dialing, p.stopped = context.WithCancel(context.Background())
	return p
}

// start listens. It is called once.
func (p *localProxy) start(listen string) (err error) {
	if p.listener, err = net.Listen("tcp", listen); err != nil {
		return err
	}
	p.work.Go(p.accept) // ends when stop closes the listener
	return nil
}

func (p *localProxy) add(t toxic) error {
	if t.Type == "reset_peer" {
		p.abrupt.Store(true)
	}
	if own, ok := ending[t.Type]; ok {
		t.Type = own
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = p.toxics.AddToxicJson(bytes.NewReader(text))
	return err
}

func (p *localProxy) remove(name string) error {
	// RemoveToxic uses the context for its logger alone; link.do bounds the call.
	return p.toxics.RemoveToxic(context.Background(), name)
}

// acceptRetry is the pause after an accept that failed.
const acceptRetry = 5 * time.Millisecond

func (p *localProxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the client gave up, or there are no files left
			time.Sleep(acceptRetry)
			continue
		}
		p.work.Go(func() { p.connect(client) }) // ends when it has dialed, or cannot
	}
}

// connect dials the server for a client, and starts both directions. The direction that
// ends first ends the other one: it closes the connection that it writes to, and so ends
// the reads of the other.
func (p *localProxy) connect(client net.Conn) {
	upstream, err := new(net.Dialer).DialContext(p.dialing, "tcp", p.upstream)
	if err != nil {
		client.Close()
		return
	}
	name, ok := p.keep(client, upstream)
	if !ok {
		client.Close()
		upstream.Close()
		return
	}
	if p.abrupt.Load() { // a cut ends with its proxy, so abrupt is never unset
		for _, c := range []net.Conn{client, upstream} {
			_ = c.(*net.TCPConn).SetLinger(0)
		}
	}
	p.toxics.StartLink(p.server, name+"-upstream", client, &tail{proxy: p, conn: upstream}, stream.Upstream)
	p.toxics.StartLink(p.server, name+"-downstream", upstream, &tail{proxy: p, conn: client}, stream.Downstream)
}

// keep adds both ends of a connection and returns its name. ok is false if the proxy is
// stopped.
func (p *localProxy) keep(ends ...net.Conn) (name string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		return "", false
	}
	for _, c := range ends {
		p.conns[c] = true
	}
	p.count++
	return fmt.Sprint(p.count), true
}

func (p *localProxy) forget(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// stop closes the listener and every connection. Toxiproxy's goroutines end when the data
// in flight is gone, which takes as long as its toxics delay it. stop may be called more
// than once.
func (p *localProxy) stop() error {
	p.stopped()
	err := p.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	p.mu.Lock()
	conns := p.conns
	p.conns = nil
	p.mu.Unlock()
	for c := range conns {
		c.Close()
	}
	p.work.Wait()
	return err
}

// tail is the end of one direction of a connection. It goes on reading after the
// connection has stopped taking data, so that no goroutine before it waits for ever.
type tail struct {
	proxy *localProxy
	conn  net.Conn
	lost  bool
}

var _ io.WriteCloser = (*tail)(nil)

func (t *tail) Write(b []byte) (int, error) {
	if !t.lost {
		if _, err := t.conn.Write(b); err != nil {
			t.lost = true
			t.conn.Close() // this ends the other direction too, and so the source of this one
		}
	}
	return len(b), nil
}

func (t *tail) Close() error {
	t.proxy.forget(t.conn)
	return t.conn.Close()
}
