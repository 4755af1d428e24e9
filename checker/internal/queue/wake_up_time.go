package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
)

// clear returns the longest piece of the time in which a contender was first in its queue that
// can be held against its lock. A wake-up takes milliseconds, and the slow poll that makes up
// for a missed one comes about twice the bound later; every delay in between has another
// reason, or is a bug. So no time counts in which
//   - a fault was in force that has hit the contender, or any server, or had ended less than a
//     session timeout before: clients connect again. A contender that was told its place when
//     the fault had been over for half the bound had connected by then, and one whose listener
//     was told since the fault that it is connected again sets its watches within a bound;
//   - a server was not found to serve, from one bound before that until one after it. It is asked
//     four times a second over a link that no fault hits, and has half a second to answer: a
//     server that stands still for three quarters of a second is found out;
//   - nothing was recorded for half the bound, or no client was answered if the servers are not
//     asked, and one bound after that: the machine may have stood still, or been far too busy;
//   - a place in the queue, or a release, took a quarter of the bound although no fault had hit
//     the client that asked for it, and one bound after that: it is a single write.
//
// The remaining time must be longer than the bound without a gap. So a machine that is too busy
// to wake a waiter in time is recorded as such, unless it was only ever too busy for that one
// waiter.
func (w *wakeUps) clear(turn *turn) facts.Span {
	from, to := turn.from, max(turn.from, turn.Ret)
	while := w.t.Header.SessionTimeout
	spoilt := slices.DeleteFunc(w.way.faultsOn(turn.Process, from, to, while), func(s facts.Span) bool {
		return s.To != facts.Forever && s.To-while+w.bound/2 < turn.told
	})
	if back, ok := w.back[w.client(turn.Process)]; ok {
		for i, s := range spoilt {
			if s.To != facts.Forever && s.To-while <= back {
				spoilt[i].To = min(s.To, back+w.within(turn.Op))
			}
		}
	}
	spoilt = append(spoilt, w.spoilt.touching(from, to)...)
	if down, ok := w.down.since(); ok {
		spoilt = append(spoilt, facts.Span{From: down, To: facts.Forever})
	}
	slices.SortFunc(spoilt, func(a, b facts.Span) int { return cmp.Compare(a.From, b.From) })
	best := facts.Span{From: from, To: from}
	for _, s := range append(spoilt, facts.Span{From: to, To: facts.Forever}) {
		if s.To < from {
			continue
		}
		if piece := (facts.Span{From: from, To: min(s.From, to)}); piece.Length() > best.Length() {
			best = piece
		}
		if from = s.To; from >= to {
			break
		}
	}
	return best
}

// event takes in an event that shows that the machine runs and that servers answer. If the
// servers are asked all the time, so that their states are recorded when nothing else is, every
// event shows that; otherwise only those that a server has answered.
func (w *wakeUps) event(e *histories.Event) {
	known := len(w.standstill.Spans)
	if e.Type == histories.Says && e.Saying.Connection != "" {
		if delete(w.back, w.client(e.Process)); e.Saying.Connection == histories.ConnectionReconnected {
			w.back[w.client(e.Process)] = e.Time
		}
	}
	switch {
	case w.bound == 0:
	case e.Type == histories.ServerSeen:
		w.seen(e.Server, e.Time)
		w.standstill.Answered(e.Time)
	case e.Type == histories.Enqueued, len(w.servers) > 0 && len(w.servers) == w.t.Header.Servers:
		w.standstill.Answered(e.Time)
	case e.Type == histories.OK:
		w.standstill.Completed(e)
	}
	for _, s := range w.standstill.Spans[known:] {
		w.spoil(s)
	}
}

// client returns the client of a process: the process itself if the history does not tell.
func (w *wakeUps) client(process int) int {
	if n := w.t.Header.Clients; n > 0 {
		return process % n
	}
	return process
}

// spoil records a time that does not count, and neither does one bound after it. It has just
// ended.
func (w *wakeUps) spoil(s facts.Span) {
	w.spoilt = w.spoilt.with(facts.Span{From: s.From, To: facts.After(s.To, w.bound)})
}

// union is a union of spans, added in the order of their ends: disjoint, and in order.
type union []facts.Span

func (u union) with(s facts.Span) union {
	for n := len(u); n > 0 && u[n-1].To >= s.From; n-- {
		s.From, s.To = min(s.From, u[n-1].From), max(s.To, u[n-1].To)
		u = u[:n-1]
	}
	return append(u, s)
}

// touching returns the spans that touch a stretch of time.
func (u union) touching(from, to time.Duration) []facts.Span {
	i, _ := slices.BinarySearchFunc(u, from, func(s facts.Span, from time.Duration) int { return cmp.Compare(s.To, from) })
	n := i
	for n < len(u) && u[n].From <= to {
		n++
	}
	return u[i:n]
}

// downServers holds the servers that do not serve now.
type downServers struct {
	from  map[int]time.Duration // since when each was not found to serve, by id
	began []serverDown          // in order; some may serve again
}

type serverDown struct {
	id   int
	from time.Duration
}

func (d *downServers) begin(id int, from time.Duration) {
	d.from[id] = from
	d.began = append(d.began, serverDown{id, from})
}

// since returns the time since when one of them has not served, if there is one.
func (d *downServers) since() (time.Duration, bool) {
	for len(d.began) > 0 {
		first := d.began[0]
		if from, ok := d.from[first.id]; ok && from == first.from {
			return from, true
		}
		d.began = d.began[1:]
	}
	return 0, false
}

// seen records the state of a server.
func (w *wakeUps) seen(s *histories.Server, at time.Duration) {
	before, known := w.servers[s.ID]
	w.servers[s.ID] = s.State
	if known && s.State == before {
		return
	}
	serves := s.State != histories.Electing && s.State != histories.Silent && s.State != histories.Down
	from, isDown := w.down.from[s.ID]
	switch begun := max(0, at-w.bound); {
	case !isDown && serves: // it was in another state for a moment
		w.spoil(facts.Span{From: begun, To: at})
	case !isDown:
		w.down.begin(s.ID, begun)
	case serves:
		w.spoil(facts.Span{From: from, To: at})
		delete(w.down.from, s.ID)
	}
}

// placed records that an acquire has reported a place.
func (w *wakeUps) placed(o *facts.Op) {
	if !w.concerns(o) {
		return
	}
	w.lives(o.Places[len(o.Places)-1].Session)
	if len(o.Places) == 1 {
		w.answered(o, o.Places[0].Time)
	}
	if users, _ := w.users.of(o.Info()); users.index != nil {
		users.index.tells(o)
	}
}

// answered takes in the answer to an operation that takes a single write.
func (w *wakeUps) answered(o *facts.Op, at time.Duration) {
	if at-o.Call > w.bound/4 && len(w.way.faultsOn(o.Process, o.Call, at, w.t.Header.SessionTimeout)) == 0 {
		w.spoil(facts.Span{From: o.Call, To: at})
	}
}
