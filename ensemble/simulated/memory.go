package simulated

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
	"github.com/zkverify/zkverify/ensemble/model/live"
)

// Memory holds the options of an ensemble in memory.
type Memory struct {
	Seed uint64 // decides what is left to chance
	// Latency is the least time that a message between a client and a server takes, each way.
	// Spread bounds the time on top of it, as a multiple of Latency, drawn evenly.
	Latency time.Duration
	Spread  float64
	// Far, unless it is 0, replaces Latency on the links that one client of four has: it is so far away
	// that others have carried out several requests when its next one arrives.
	Far time.Duration
	// Reconnected, unless it is 0, is the longest session timeout that the last server grants a client that
	// connects again, see service.Settings.Reconnected.
	Reconnected time.Duration
	// Trace, if not nil, is called with the messages of clients and servers. It must neither call
	// back nor change the data, which stays as it is.
	Trace func(live.Message)
	// Orders, if not nil, decides the order of messages around releases.
	Orders *live.Orders
}

// OwnAddress is the address from which connections come that no link carries, as those of the bench.
const OwnAddress = "198.51.100.1"

// InMemory starts servers as Start does, but without ports: clients connect by
// DialContext, and through the links of Network. Started in a bubble of testing/synctest
// they follow its clock.
func InMemory(config ensemble.LocalConfig, m Memory) (*Ensemble, error) {
	e, err := newEnsemble(config, m, newLedger())
	if err != nil {
		return nil, fmt.Errorf("start simulated ZooKeeper: %w", err)
	}
	e.root = fmt.Sprintf("/zkverify/simulated-%d", m.Seed)
	e.live.Trace, e.live.Orders = m.Trace, m.Orders
	e.memory = newMemory(e, m)
	e.live.Start()
	return e, nil
}

// Chosen returns the number of choices that Memory.Orders has made so far.
func (e *Ensemble) Chosen() (n int) {
	e.live.Do(func() { n = e.live.Cluster.Chosen() })
	return n
}

// Network makes links to servers that were started by InMemory; nil for others.
func (e *Ensemble) Network() links.Network {
	if e.memory == nil {
		return nil
	}
	return e.memory
}

// memory is the network of an ensemble in memory. It implements links.Network and
// links.Dialer.
type memory struct {
	ensemble *Ensemble
	config   Memory

	mu     sync.Mutex // guards the fields below
	made   int
	links  map[string]*live.Link // by address: those of Network, and one for each server
	names  map[string]bool
	closed bool
}

func newMemory(e *Ensemble, c Memory) *memory {
	m := &memory{ensemble: e, config: c, links: map[string]*live.Link{}, names: map[string]bool{}}
	for _, s := range e.servers {
		// The address is of a network that is reserved for documentation (RFC 5737). A name would
		// make clients ask a name server.
		s.Addr, s.Dialer = fmt.Sprintf("192.0.2.%d:2181", s.ID), m
		m.links[s.Addr] = m.to(s, OwnAddress)
	}
	return m
}

func (m *memory) to(s *server, ip string) *live.Link {
	latency, servers := m.config.Latency, len(m.ensemble.servers)
	if m.config.Far > 0 && m.made/servers%4 == 1 { // each client makes its links one after the other
		latency = m.config.Far
	}
	m.made++
	return m.ensemble.live.NewLink(live.LinkConfig{
		Server: s.myid, IP: ip, Latency: latency, Spread: m.config.Spread, Seed: m.config.Seed + uint64(m.made)<<32,
	})
}

// Link implements links.Network. Upstream is the address of a server.
func (m *memory) Link(_ context.Context, name, upstream string) (links.Link, error) {
	fail := func(err error) (links.Link, error) { return nil, fmt.Errorf("link %s to %s: %w", name, upstream, err) }
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return fail(links.ErrClosed)
	}
	if m.names[name] {
		return fail(links.ErrNameTaken)
	}
	for _, s := range m.ensemble.servers {
		if s.Addr != upstream {
			continue
		}
		l := m.to(s, fmt.Sprintf("198.51.100.%d", 2+m.made%250))
		addr := fmt.Sprintf("203.0.113.%d:%d", m.made%250, 2181+m.made/250)
		m.links[addr], m.names[name] = l, true
		return &link{
			name: name, addr: addr,
			change: func(c cluster.Condition) bool { return m.ensemble.live.Do(func() { l.Set(c) }) },
			strikeAt: func(at func(reply bool, data []byte) bool, cut bool, c cluster.Condition, do func()) bool {
				return m.ensemble.live.Do(func() {
					l.CallAt(at, func() {
						if cut {
							l.Set(c)
						}
						do()
					})
				})
			},
			forget: func() {
				m.ensemble.live.Do(l.Disconnect)
				m.mu.Lock()
				defer m.mu.Unlock()
				delete(m.links, addr)
				delete(m.names, name)
			},
		}, nil
	}
	return fail(fmt.Errorf("no server of this ensemble has that address"))
}

// DialContext implements links.Dialer: it opens a connection to a server, or through a
// link.
func (m *memory) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	m.mu.Lock()
	l := m.links[addr]
	m.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("dial %s: no server and no link of this ensemble has that address", addr)
	}
	return l.Dial(ctx, network, addr)
}

// Close implements links.Network. The links that it has made end with the ensemble.
func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
