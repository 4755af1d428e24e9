package models

import (
	"hash/maphash"

	"github.com/zkverify/zkverify/checker/internal/judge"
)

// outcome is the result of an operation.
type outcome int

const (
	unanswered outcome = iota
	succeeded
	failed  // it had no effect
	unclear // it may take effect at any time
)

// pending is an operation of a lock or register. Its input is known when it is answered.
type pending[I comparable] struct {
	in      I
	outcome outcome
	slot    int
	call    int64 // its position among the calls and answers
	of      about
}

// entry is a call or a return in the queue.
type entry[I comparable] struct {
	op  *pending[I]
	ret bool
}

// mostSearched is the largest number of operations of one lock or register that Porcupine
// searches.
const mostSearched = 2000

// searched is an operation in the search by Porcupine. One with an unknown outcome need not
// take effect: the search may place it last, where it affects no other, or where it is not
// allowed.
type searched[I comparable] struct {
	in      I
	unclear bool
}

// tracker follows one lock or register. Calls wait in the queue until their outcome is known.
type tracker[S, I comparable] struct {
	sweep *sweep[S, I]
	begin S
	step  func(S, I) (S, bool)
	queue []entry[I]
	head  int
	n     int64
	ops   []judge.Operation[searched[I]] // for Porcupine
	many  bool                           // there were too many
	wrong *pending[I]                    // the operation that no order allows
	state S                              // before it
}

func newTracker[S, I comparable](begin S, step func(S, I) (S, bool), reads func(I) bool, l *limits) *tracker[S, I] {
	return &tracker[S, I]{sweep: newSweep(begin, step, reads, l), begin: begin, step: step}
}

// model returns the model of the tracker for Porcupine.
func (t *tracker[S, I]) model() judge.Model[S, searched[I]] {
	seed := maphash.MakeSeed()
	return judge.Model[S, searched[I]]{
		Begin: t.begin,
		Step: func(s S, in searched[I]) (bool, S) {
			if then, ok := t.step(s, in.in); ok {
				return true, then
			}
			return in.unclear, s
		},
		Hash: func(s S) uint64 { return maphash.Comparable(seed, s) },
	}
}

// call takes in a call.
func (t *tracker[S, I]) call(of about) *pending[I] {
	t.n++
	op := &pending[I]{call: t.n, of: of}
	t.queue = append(t.queue, entry[I]{op, false})
	return op
}

// answer records the outcome of an operation.
func (t *tracker[S, I]) answer(op *pending[I], how outcome, in I) {
	t.n++
	op.outcome, op.in = how, in
	if how == succeeded {
		t.queue = append(t.queue, entry[I]{op, true})
	}
	switch {
	case how == failed || t.many:
	case len(t.ops) == mostSearched || !t.sweep.limits.keeps():
		t.many, t.ops = true, nil
	case how == succeeded:
		t.ops = append(t.ops, judge.Operation[searched[I]]{Input: searched[I]{in, false}, Call: op.call, Ret: t.n})
	default:
		t.ops = append(t.ops, judge.Operation[searched[I]]{Input: searched[I]{in, true}, Call: op.call, Ret: judge.Never})
	}
	t.drain()
}

// drain lets the sweep go on to the first call whose outcome is not known.
func (t *tracker[S, I]) drain() {
	for ; t.head < len(t.queue); t.head++ {
		e := t.queue[t.head]
		if !e.ret && e.op.outcome == unanswered {
			break
		}
		t.queue[t.head] = entry[I]{}
		if t.sweep.over() {
			continue
		}
		switch {
		case e.ret:
			t.returns(e.op)
		case e.op.outcome == succeeded:
			e.op.slot = t.sweep.call(e.op.in)
		case e.op.outcome == unclear:
			t.sweep.crash(e.op.in)
		}
	}
	if t.head == len(t.queue) && cap(t.queue) < 1<<10 {
		t.queue, t.head = t.queue[:0], 0
	}
	if t.head > 1<<10 && 2*t.head > len(t.queue) {
		t.queue = append(t.queue[:0], t.queue[t.head:]...)
		t.head = 0
	}
}

func (t *tracker[S, I]) returns(op *pending[I]) {
	t.state = t.sweep.state // of several possible states, any one serves the report
	if t.sweep.ret(op.slot); t.sweep.broken {
		t.wrong = op
	}
}

// decide reports whether no order fits, by both engines if both can decide. If neither can,
// unknown is the reason.
func (t *tracker[S, I]) decide(caps *judge.Caps) (broken bool, unknown string) {
	broken, unknown = t.sweep.broken, t.sweep.unknown
	if t.many || caps == nil {
		return broken, unknown
	}
	a := judge.Search(caps, t.model(), t.ops)
	switch {
	case a.Undecided():
		return broken, unknown
	case unknown != "":
		return a.Illegal, ""
	case a.Illegal != broken:
		return false, "bug of zkverify: the sweep and Porcupine disagree"
	}
	return broken, ""
}
