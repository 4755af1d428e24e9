package checker

import (
	"context"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// run writes a history by hand, in the order of its calls. Times are in milliseconds.
type run struct {
	t testing.TB
	h *histories.History
}

// promises of a lock that claims everything.
var everything = histories.Promises{
	Tokens: true, TellsLoss: true, FIFO: true, Reentrant: true,
	LossBound: 50 * time.Millisecond, ProgressBound: time.Second,
}

func newRun(t testing.TB) *run {
	return &run{t, &histories.History{Header: histories.Header{Version: 1, Promises: everything, SessionTimeout: 2 * time.Second}}}
}

func (r *run) add(ms int, e histories.Event) *run {
	e.Time = time.Duration(ms) * time.Millisecond
	r.h.Events = append(r.h.Events, e)
	return r
}

func (r *run) op(ms int, typ histories.Type, p int, op histories.Op, e histories.Event) *run {
	e.Type, e.Process, e.Op = typ, p, op
	if e.Lock == "" {
		e.Lock = "a"
	}
	return r.add(ms, e)
}

func tok(n int) histories.Token { return histories.Token{Zxid: int64(n)} }

func (r *run) want(ms, p int) *run {
	return r.op(ms, histories.Invoke, p, histories.Acquire, histories.Event{})
}

// got answers an acquire; session s<p>.
func (r *run) got(ms, p, token int) *run { return r.deeper(ms, p, token, 1) }

func (r *run) deeper(ms, p, token, depth int) *run {
	return r.op(ms, histories.OK, p, histories.Acquire, histories.Event{Token: tok(token), Depth: depth, Session: session(p)})
}

func (r *run) answer(ms int, typ histories.Type, p int, op histories.Op) *run {
	return r.op(ms, typ, p, op, histories.Event{})
}

func session(p int) string { return "s" + string(rune('0'+p)) }

func (r *run) release(ms, p int) *run {
	return r.op(ms, histories.Invoke, p, histories.Release, histories.Event{Depth: 1})
}

func (r *run) inner(from, to, p, depth int) *run {
	e := histories.Event{Depth: depth}
	return r.op(from, histories.Invoke, p, histories.Release, e).op(to, histories.OK, p, histories.Release, e)
}

func (r *run) released(ms, p int) *run {
	return r.op(ms, histories.OK, p, histories.Release, histories.Event{Depth: 1})
}

// cycle acquires at from, and releases at to.
func (r *run) cycle(from, to, p, token int) *run {
	return r.want(from, p).got(from, p, token).release(to, p).released(to, p)
}

func (r *run) place(ms, p, token int) *run {
	return r.add(ms, histories.Event{Type: histories.Enqueued, Process: p, Lock: "a", Token: tok(token), Session: session(p)})
}

func (r *run) lost(ms, p int) *run {
	return r.add(ms, histories.Event{Type: histories.Lost, Process: p, Lock: "a", Session: session(p)})
}

func (r *run) expired(ms, p int) *run {
	return r.add(ms, histories.Event{Type: histories.Expired, Process: -1, Session: session(p)})
}

func (r *run) crash(ms, p int) *run {
	return r.add(ms, histories.Event{Type: histories.Crash, Process: p})
}

func (r *run) fault(ms int, typ histories.Type, name string, processes ...int) *run {
	return r.add(ms, histories.Event{Type: typ, Process: -1, Fault: &histories.Fault{ID: 1, Name: name, Targets: []string{"client"}, Processes: processes}})
}

// expire forces the session of p to expire.
func (r *run) expire(ms, p int) *run { return r.forcing(ms, p).forced(ms, p) }

func (r *run) forcing(ms, p int) *run {
	return r.fault(ms, histories.FaultStart, histories.ForcedExpiry, p)
}

func (r *run) forced(ms, p int) *run {
	return r.fault(ms, histories.FaultStop, histories.ForcedExpiry, p)
}

// endOf forces a session to expire, by its name, while process p is in it.
func (r *run) endOf(ms int, session string, p int) *run {
	for _, typ := range []histories.Type{histories.FaultStart, histories.FaultStop} {
		r.add(ms, histories.Event{Type: typ, Process: -1, Fault: &histories.Fault{
			ID: 1, Name: histories.ForcedExpiry, Targets: []string{"client"}, Processes: []int{p}, Params: map[string]string{"session": session},
		}})
	}
	return r
}

func (r *run) phase(ms int, name string) *run {
	return r.add(ms, histories.Event{Type: histories.PhaseStart, Process: -1, Phase: name})
}

// counter performs one operation on a store within one millisecond.
func (r *run) counter(ms, p int, op histories.Op, value int, typ histories.Type) *run {
	e := histories.Event{Store: histories.StorePlain, Value: int64(value)}
	return r.op(ms, histories.Invoke, p, op, e).op(ms, typ, p, op, e)
}

func (r *run) reads(ms, p, value int) *run {
	return r.counter(ms, p, histories.Read, value, histories.OK)
}
func (r *run) writes(ms, p, value int) *run {
	return r.counter(ms, p, histories.Write, value, histories.OK)
}

func (r *run) report(opts ...Option) *Report {
	r.t.Helper()
	rep, err := Check(context.Background(), r.h, opts...)
	if err != nil {
		r.t.Fatal(err)
	}
	inWindows(r.t, r.h, rep, opts...)
	return rep
}

// known is a history with a known answer.
type known struct {
	name string
	make func(*run)
	want verdict.Outcome
}

func answers(t *testing.T, guarantee string, cases []known) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(t)
			c.make(r)
			inCorpus(t, r.h, guarantee, c)
			v := r.report().Verdict(guarantee)
			if v.Outcome != c.want {
				t.Errorf("got %v, want %s; %v", v, c.want, v.Witnesses)
			}
			if v.Outcome == verdict.Violated && (len(v.Witnesses) == 0 || v.Witnesses[0].String() == "") {
				t.Error("a violation without a witness")
			}
		})
	}
}
