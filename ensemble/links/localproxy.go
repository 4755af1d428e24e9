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
// itself: Toxiproxy's own proxy has them written to by what gives up at the first
// error, and leaves goroutines that offer it more for ever.
type localProxy struct {
	server   *toxiproxy.ApiServer
	toxics   *toxiproxy.ToxicCollection
	upstream string
	abrupt   atomic.Bool // connections that come end with a reset
	listener net.Listener

	dialing context.Context
	stopped context.CancelFunc
	work    sync.WaitGroup // the accept loop and what dials

	mu    sync.Mutex
	conns map[net.Conn]bool // nil when it has been stopped
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
	// RemoveToxic takes a context for its logger alone; see link.do for its end.
	return p.toxics.RemoveToxic(context.Background(), name)
}

// acceptRetry is how long it takes to try again after a connection could not be accepted.
const acceptRetry = 5 * time.Millisecond

func (p *localProxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the one who dialled gave up, or there are no files left
			time.Sleep(acceptRetry)
			continue
		}
		p.work.Go(func() { p.connect(client) }) // ends when it has dialed, or cannot
	}
}

// connect dials the server for a client, and starts both directions. Whichever
// ends first ends the other: closing what it writes to ends the other's reads.
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
	if p.abrupt.Load() { // cuts end with their proxy: this never goes back
		for _, c := range []net.Conn{client, upstream} {
			_ = c.(*net.TCPConn).SetLinger(0)
		}
	}
	p.toxics.StartLink(p.server, name+"-upstream", client, &tail{proxy: p, conn: upstream}, stream.Upstream)
	p.toxics.StartLink(p.server, name+"-downstream", upstream, &tail{proxy: p, conn: client}, stream.Downstream)
}

// keep enters both ends of a connection and names it; false when the proxy has been
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

// stop closes the listener and every connection. Toxiproxy's goroutines end when
// what is in flight has come to nothing, which takes as long as its toxics delay it.
// It may be called more than once.
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

// tail is where one direction of a connection ends. It goes on taking data when the
// connection does not any more, so that nothing before it waits for ever.
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
			t.conn.Close() // the other direction ends with it, and so does the source of this one
		}
	}
	return len(b), nil
}

func (t *tail) Close() error {
	t.proxy.forget(t.conn)
	return t.conn.Close()
}
