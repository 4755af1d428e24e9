package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// connector makes the connections of one session for its Conn, and is the tap of these
// connections.
type connector struct{ s *Session }

// dial is called by the Conn's loop whenever it has no connection. It returns when the
// session ends.
func (c connector) dial(network, addr string, _ time.Duration) (net.Conn, error) {
	s := c.s
	s.mu.Lock()
	timeout := s.timeout
	patience := timeout / 3
	s.addr, s.link = addr, nil
	s.mu.Unlock()
	if err := s.pace.await(s.dials, timeout); err != nil {
		return nil, err
	}
	s.failures.attempting(addr)
	ctx, cancel := context.WithTimeout(s.dials, patience)
	defer cancel()
	if s.least.Load() == 0 { // the client's first attempt that gets this far
		least, err := c.leastSessionTimeout(ctx, addr, patience)
		if err != nil {
			return nil, err
		}
		s.least.Store(int64(least))
		if err := s.pace.awaitAnother(s.dials); err != nil {
			return nil, err
		}
	}
	if err := c.askIfForgotten(ctx, addr, patience); err != nil {
		return nil, err
	}
	conn, err := c.open(ctx, &s.cfg, network, addr, patience)
	if err != nil {
		return nil, err
	}
	w := newWireConn(conn, c, s.cfg.Clock, patience, s.cfg.MaxPacket+slack)
	s.mu.Lock()
	s.link = w
	over := s.over
	s.mu.Unlock()
	if over {
		conn.Close()
		return nil, ErrEnded
	}
	return w, nil
}

// open opens a connection to a server, or starts a race for a connection to any address of
// its name.
func (c connector) open(ctx context.Context, cfg *Config, network, addr string, patience time.Duration) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || net.ParseIP(host) != nil || cfg.Lookup == nil {
		return cfg.open(ctx, network, addr, patience)
	}
	return newRace(c.s, cfg, network, addr, host, port, patience), nil
}

// connected implements wireTap: a server answered the connect request. Over SASL it is
// called when the connection is authenticated, which may be much later. But the
// authentication proves nothing: a server answers tokens by itself, and neither touches the
// session for them nor asks the leader. So all evidence dates from the sending of the
// connect request, as without SASL: the leader has begun the session, or taken it over,
// after that. A connection that is refused leaves no evidence, although the leader has
// taken the session over.
func (c connector) connected(sent time.Time, h handshake) error {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := h.implausible(s.ID, s.timeout); err != nil {
		return err
	}
	s.failures.succeeded()
	s.hangUps = 0
	s.suspension.heard = sent
	if s.ID != 0 && h.expired() {
		s.pace.expired()
		Locked{s}.end(Expired)
		return nil
	}
	s.pace.established()
	if s.ID != 0 {
		s.seen.reconnected(sent)
		Locked{s}.shorten(h.timeout)
		return nil
	}
	s.ID, s.timeout = h.session, h.timeout
	s.seen.tick = max(s.cfg.Tick, time.Duration(s.least.Load())/2)
	if s.cfg.Tick == 0 {
		s.seen.tick = max(s.seen.tick, min(2*time.Second, s.timeout/2))
	}
	s.seen.established(sent)
	close(s.ready)
	return nil
}

// hungUp implements wireTap.
func (c connector) hungUp() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.hangUps++
}

// answered implements wireTap. It reads the clock late, and only for a relayed answer: a
// later time of the answer puts off the next request of a chain, which is safe.
func (c connector) answered(sent time.Time, by answer) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if by == confirmed {
		s.pace.confirmed()
	}
	if by != local {
		s.seen.relayed(sent, s.cfg.Clock.Now(), by == confirmed)
	}
	s.suspension.heard = sent
}

// created implements wireTap: the node at path was created by transaction zxid.
func (c connector) created(path string, zxid int64) {
	c.s.zxids.created(GUIDOf(path[strings.LastIndexByte(path, '/')+1:]), zxid)
}

// reached implements wireTap.
func (c connector) reached(zxid int64) { c.s.lastZxid.Store(max(zxid, c.s.lastZxid.Load())) }

// denied implements wireTap.
func (c connector) denied(p requestPart) { c.s.denials.add(p) }

// unwatched implements wireTap. A server that has too much to do puts SetWatches off like
// any other request, including the one by which go-zookeeper sets its watches again. The
// answer does not tell which watches are missing. So all waiters look again, as after a
// reconnect, and set their watches anew.
func (c connector) unwatched() {
	c.s.With(func(l Locked) {
		l.s.watches.unset(l.s.link)
		l.tellChanged()
	})
}

// lied implements wireTap.
func (c connector) lied() { c.s.pace.lied() }

// refused ends a session whose client the servers refuse. A server that refuses the
// client's credentials refuses them again, but another server may accept them. So a new
// session ends when no server is left that might accept it. A session that a server has
// granted goes on, with its leases, until its deadline. Then nothing is left to lose, and
// each further connection would keep its nodes alive, since the servers take the session
// over before the client authenticates. A server that demands another authentication
// demands it of every request: the session ends, since it can do nothing.
func (c connector) refused(err error) {
	s := c.s
	s.mu.Lock()
	established := s.ID != 0
	s.mu.Unlock()
	if !errors.Is(err, errAuthRequired) && (established && s.Remaining() > 0 || !s.failures.complete(len(s.cfg.Servers))) {
		return
	}
	why := s.failures.refusal()
	s.refused.CompareAndSwap(nil, &why)
	s.end(NotAuthenticated)
}

// event is called by two goroutines of the Conn and must not block.
func (c connector) event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	c.s.With(func(s Locked) {
		switch e.State {
		case zk.StateHasSession:
			s.setUp(true)
		case zk.StateDisconnected:
			s.setUp(false)
		case zk.StateExpired:
			s.end(Expired)
		case zk.StateAuthFailed:
			s.end(NotAuthenticated)
		}
	})
}

// Printf implements zk.Logger. go-zookeeper reports only here why it has no connection.
func (c connector) Printf(_ string, args ...any) {
	c.s.mu.Lock()
	server, link, over := c.s.addr, c.s.link, c.s.over
	c.s.mu.Unlock()
	for _, arg := range args {
		err, ok := arg.(error)
		if !ok || over {
			continue
		}
		if link != nil {
			if refused := link.refusal(); refused != nil {
				err = refused // go-zookeeper may have kept only its text
			}
		}
		if !strings.Contains(err.Error(), server) {
			err = fmt.Errorf("%s: %w", server, err)
		}
		c.s.failures.failed(server, err)
		if errors.Is(err, zk.ErrAuthFailed) {
			c.refused(err)
		}
	}
}
