package inspect

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SessionState is the state of a session, as far as the servers tell.
type SessionState string

// The states of a session.
const (
	SessionAlive    SessionState = "alive"    // a server has a connection of it
	SessionUnheard  SessionState = "unheard"  // it exists, but no server has a connection of it: it expires unless its client comes back
	SessionExpiring SessionState = "expiring" // the servers have not heard of it for two thirds of its timeout
	SessionGone     SessionState = "gone"     // the servers no longer have it
	SessionUnknown  SessionState = "unknown"  // the servers do not tell, see Sessions.Unasked
	SessionNone     SessionState = "none"     // no session owns the node
)

// Sessions holds the sessions that the servers know, according to their four-letter words
// cons and dump. The leader decides about expiry, so only the leader's dump has the times.
type Sessions struct {
	// Unasked holds the errors of servers that did not answer, by address: they do not
	// allow cons or dump, or cannot be reached.
	Unasked map[string]error

	complete bool             // every server that was asked told its connections
	told     bool             // at least one server told which sessions exist
	clients  map[int64]string // addresses of the clients that are connected
	timeouts map[int64]time.Duration
	exists   map[int64]bool
	expiries map[int64]time.Time     // as the leader writes them
	left     map[int64]time.Duration // until then
	nodes    map[int64]ephemerals    // of each session
	zxid     int64                   // the latest transaction of any server
}

// ephemerals counts the nodes of a session, and their bytes in the transaction that ends
// it.
type ephemerals struct{ nodes, bytes int }

// ReadSessions asks servers for their sessions, all at once, with the words cons and dump,
// and for their latest transactions, with srvr. Own is the caller's session, which the
// servers have just heard of: the leader's times of other sessions are compared with its
// time. An ended context leaves the servers unasked.
func ReadSessions(ctx context.Context, dial Dial, servers []string, own int64) *Sessions {
	s := &Sessions{
		Unasked: make(map[string]error), complete: len(servers) > 0,
		clients: make(map[int64]string), timeouts: make(map[int64]time.Duration),
		exists: make(map[int64]bool), expiries: make(map[int64]time.Time), left: make(map[int64]time.Duration),
		nodes: make(map[int64]ephemerals),
	}
	var asked sync.WaitGroup
	var mu sync.Mutex
	for _, addr := range servers {
		asked.Go(func() {
			cons, err := ask(ctx, dial, addr, "cons")
			dump, err2 := ask(ctx, dial, addr, "dump")
			status, _ := ask(ctx, dial, addr, "srvr") // a server that does not answer cons or dump may well answer this
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				s.complete = false
				s.Unasked[addr] = err
			} else if err2 != nil {
				s.Unasked[addr] = err2
			}
			s.connections(cons)
			s.dump(dump)
			s.status(status)
		})
	}
	asked.Wait()
	s.compare(own)
	return s
}

// compare computes the time that sessions have left. The zone and the clock of the leader's
// times are the leader's, so compare uses the time of a session that the servers have just
// heard of.
func (s *Sessions) compare(own int64) {
	reference, known := s.expiries[own]
	if !known || s.timeouts[own] == 0 {
		return
	}
	for id, t := range s.expiries {
		s.left[id] = max(0, s.timeouts[own]+t.Sub(reference))
	}
}

// connections reads an answer to cons: a line for each connection, such as
// /10.0.0.7:40112[1](queued=0,recved=22,sent=23,sid=0x300000b61590000,…,to=10000,…).
func (s *Sessions) connections(cons string) {
	for line := range strings.Lines(cons) {
		addr, rest, found := strings.Cut(strings.TrimSpace(line), "(")
		if i := strings.LastIndexByte(addr, '['); found && i > 0 {
			addr = strings.TrimPrefix(addr[:i], "/")
		}
		fields := make(map[string]string)
		for field := range strings.SplitSeq(strings.TrimSuffix(rest, ")"), ",") {
			name, value, _ := strings.Cut(field, "=")
			fields[name] = value
		}
		id, ok := parseSession(fields["sid"])
		if !ok || id == 0 {
			continue
		}
		s.clients[id] = addr
		if ms, err := strconv.Atoi(fields["to"]); err == nil {
			s.timeouts[id] = time.Duration(ms) * time.Millisecond
		}
	}
}

// dump reads an answer to dump. A leader writes when the sessions that it tracks expire: "2
// expire at Tue Nov 24 20:12:48 UTC 2026:" and the sessions below. Every server writes
// sessions with their timeouts: "0x300000b61590000 10000ms".
func (s *Sessions) dump(dump string) {
	var expire time.Time
	tracked := false
	_, ephemeral, _ := strings.Cut(dump, "\nephemeral nodes dump")
	s.ephemeral(ephemeral)
	for line := range strings.Lines(dump) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "Session Sets"), strings.HasPrefix(line, "Global Sessions"):
			tracked, s.told = true, true
			continue
		case strings.HasPrefix(line, "ephemeral nodes dump"):
			tracked = false
		}
		if !tracked {
			continue
		}
		if _, text, found := strings.Cut(line, " expire at "); found {
			expire, _ = time.Parse(time.UnixDate, strings.TrimSuffix(text, ":")) // the zero time means unknown
			continue
		}
		name, timeout, _ := strings.Cut(strings.TrimSpace(line), "\t")
		id, ok := parseSession(name)
		if !ok {
			continue
		}
		s.exists[id] = true
		if d, err := time.ParseDuration(timeout); err == nil {
			s.timeouts[id] = d
		} else if !expire.IsZero() {
			s.expiries[id] = expire
		}
	}
}

// ephemeral reads the nodes of sessions in an answer to dump: the session, and below it the
// paths, each after a tab. Every server has all of them, but one may lag behind.
func (s *Sessions) ephemeral(dump string) {
	var id int64
	known := make(map[int64]ephemerals)
	for line := range strings.Lines(dump) {
		line = strings.TrimRight(line, "\n")
		if path, found := strings.CutPrefix(line, "\t"); found && strings.HasPrefix(path, "/") && id != 0 {
			e := known[id]
			known[id] = ephemerals{e.nodes + 1, e.bytes + inClosing(len(path))}
			continue
		}
		id, _ = parseSession(strings.TrimSuffix(line, ":"))
	}
	for id, e := range known {
		if e.bytes > s.nodes[id].bytes {
			s.nodes[id] = e
		}
	}
}

// ephemerals returns the number of a session's nodes, and their bytes in the transaction
// that ends it, as far as the servers tell.
func (s *Sessions) ephemerals(session int64) (nodes, bytes int) {
	if s == nil {
		return 0, 0
	}
	return s.nodes[session].nodes, s.nodes[session].bytes
}

// status reads an answer to srvr. One of its lines is "Zxid: 0x100000021".
func (s *Sessions) status(srvr string) {
	for line := range strings.Lines(srvr) {
		if text, found := strings.CutPrefix(line, "Zxid: "); found {
			if zxid, ok := parseSession(strings.TrimSpace(text)); ok {
				s.zxid = max(s.zxid, zxid)
			}
		}
	}
}

// transactions returns the number of transactions that the leader has made: the lower half
// of the latest number.
func (s *Sessions) transactions() int64 {
	if s == nil {
		return 0
	}
	return s.zxid & (transactionEnd - 1)
}

// parseSession reads the id of a session as servers write it.
func parseSession(text string) (int64, bool) {
	digits, found := strings.CutPrefix(text, "0x")
	id, err := strconv.ParseUint(digits, 16, 64)
	return int64(id), found && err == nil
}

// Client returns the address of the client of a session, as the server sees it, or "" if no
// server that was asked has a connection of the session.
func (s *Sessions) Client(session int64) string {
	if s == nil {
		return ""
	}
	return s.clients[session]
}

// Left returns the time that the leader would still wait for a session of which it hears
// nothing, to a second. It reports false if the leader was not asked.
func (s *Sessions) Left(session int64) (time.Duration, bool) {
	if s == nil {
		return 0, false
	}
	left, known := s.left[session]
	return left, known
}

// State returns the state of a session.
func (s *Sessions) State(session int64) SessionState {
	if session == 0 {
		return SessionNone
	}
	if s == nil {
		return SessionUnknown
	}
	connected := s.clients[session] != ""
	left, known := s.left[session]
	timeout := s.timeouts[session]
	switch {
	case s.told && !s.exists[session] && !connected:
		return SessionGone
	case known && timeout >= 6*time.Second && left < timeout/3: // the leader's times are whole seconds
		return SessionExpiring
	case connected:
		return SessionAlive
	case s.exists[session] && s.complete:
		return SessionUnheard
	}
	return SessionUnknown
}
