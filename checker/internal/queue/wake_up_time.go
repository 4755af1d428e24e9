package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
)

// clear returns the longest piece of the time in which a contender was the first in
// its queue that can be held against its lock. A wake-up takes milliseconds, and the
// slow look that makes up for a missed one comes about twice the bound later;
// everything in between has to have another reason, or to be a bug. So no time counts in which
//   - a fault was in force that has hit the contender, or any server, or was over for less
//     than a session timeout: clients connect again. Who was told its place when the fault
//     had been over for half the bound had connected by then;
//   - a server was not found to serve, from one bound before that until one after it. It
//     is asked four times a second over a link that no fault hits, and has half a second to
//     answer: one that stands still for three quarters of a second is found out;
//   - nothing went on record for half the bound, or nobody was answered if the servers are
//     not asked, and one bound after that: the machine may have stood still, or been far
//     too busy;
//   - a place in the queue, or a release, took a quarter of the bound although no fault had
//     hit who asked for it, and one bound after that: it is a single write.
//
// What is left must be longer than the bound without a gap. So a machine that is too busy to wake
// a waiter in time is on record as being so, unless it was only ever too busy for that one waiter.
func (w *wakeUps) clear(turn *turn) facts.Span {
	from, to := turn.from, max(turn.from, turn.Ret)
	while := w.t.Header.SessionTimeout
	spoilt := slices.DeleteFunc(w.way.faultsOn(turn.Process, from, to, while), func(s facts.Span) bool {
		return s.To != facts.Forever && s.To-while+w.bound/2 < turn.told
	})
	for _, d := range w.down {
		spoilt = append(spoilt, facts.Span{From: d.From, To: facts.After(d.To, w.bound)})
	}
	for _, s := range slices.Concat(w.slow, w.standstill.Spans) {
		spoilt = append(spoilt, facts.Span{From: s.From, To: facts.After(s.To, w.bound)})
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

// event takes in what shows that the machine runs and that servers answer. Where they
// are asked all the time, and what they are is on record when nothing else is, every
// event does; else those that a server has answered.
func (w *wakeUps) event(e *histories.Event) {
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
}

// seen takes in what a server is.
func (w *wakeUps) seen(s *histories.Server, at time.Duration) {
	before, known := w.servers[s.ID]
	w.servers[s.ID] = s.State
	if known && s.State == before {
		return
	}
	serves := s.State != histories.Electing && s.State != histories.Silent && s.State != histories.Down
	i, isDown := w.downNow[s.ID]
	switch {
	case !isDown && serves: // it was something else for a moment
		w.down = append(w.down, facts.Span{From: max(0, at-w.bound), To: at})
	case !isDown:
		w.downNow[s.ID] = len(w.down)
		w.down = append(w.down, facts.Span{From: max(0, at-w.bound), To: facts.Forever})
	case serves:
		w.down[i].To = at
		delete(w.downNow, s.ID)
	}
}

// placed takes in that an acquire has told a place.
func (w *wakeUps) placed(o *facts.Op) {
	if w.bound > 0 && len(o.Places) == 1 {
		w.answered(o, o.Places[0].Time)
	}
}

// answered takes in the answer to what takes a single write.
func (w *wakeUps) answered(o *facts.Op, at time.Duration) {
	if at-o.Call > w.bound/4 && len(w.way.faultsOn(o.Process, o.Call, at, w.t.Header.SessionTimeout)) == 0 {
		w.slow = append(w.slow, facts.Span{From: o.Call, To: at})
	}
}
