package checker

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// awake adds, until a time, the reports of the run's one server that are recorded when nothing
// else is.
func (r *run) awake(until int) *run {
	for ms := r.now() + 100; ms < until; ms += 100 {
		r.server(ms, histories.Alone)
	}
	return r
}

func (r *run) now() int {
	if n := len(r.h.Events); n > 0 {
		return int(r.h.Events[n-1].Time / time.Millisecond)
	}
	return 0
}

func (r *run) server(ms int, state histories.ServerState) *run {
	return r.add(ms, histories.Event{Type: histories.ServerSeen, Process: -1, Server: &histories.Server{ID: 1, State: state}})
}

// promising makes the target promise that the first contender in a queue is granted the lock
// within a second. Its server was found long ago.
func (r *run) promising() *run {
	r.h.Header.Promises.TurnBound, r.h.Header.Servers = time.Second, 1
	return r.server(0, histories.Alone).awake(5000)
}

// line is a holder, process 1, and the waiters behind it, from 5000 on. Process 1 releases the
// lock at 5100.
func (r *run) line(waiting ...int) *run {
	r.want(5000, 1).place(5001, 1, 1).got(5002, 1, 1)
	for i, p := range waiting {
		r.want(5010+10*i, p).place(5011+10*i, p, p)
	}
	return r.release(5099, 1).released(5100, 1)
}

// grant is a grant to p at a time, its release, and the recovery after it.
func (r *run) grant(ms, p int, others ...int) *run {
	return r.awake(ms).got(ms, p, p).release(ms+1, p).released(ms+2, p).recovers(ms+5000, append(others, p)...)
}

// gaveUpUnderAFault is an acquire that gives up under a fault, a grant to another process,
// which asked for it at a given time in a given session, and a third process that sleeps on.
func gaveUpUnderAFault(r *run, second string, placed bool, ms int) {
	r.promising().fault(5000, histories.FaultStart, "isolate", 2).want(5001, 2)
	if placed {
		r.place(5002, 2, 2)
	}
	r.op(5010, histories.Fail, 2, histories.Acquire, histories.Event{Session: session(2)}).fault(5011, histories.FaultStop, "isolate", 2)
	r.awake(ms).want(ms, 3).add(ms+1, histories.Event{Type: histories.Enqueued, Process: 3, Lock: "a", Token: tok(3), Session: second})
	r.op(ms+2, histories.OK, 3, histories.Acquire, histories.Event{Token: tok(3), Depth: 1, Session: second})
	r.want(ms+10, 4).place(ms+11, 4, 4).release(ms+20, 3).released(ms+21, 3).grant(ms+1500, 4, 2, 3)
}

// sleepsConnected is a waiter, process 2, that a fault has hit and that is woken too late, but within
// what clients need to connect again; p is told that it has connected at a time.
func (r *run) sleepsConnected(p, at int) {
	r.promising().want(5000, 1).place(5001, 1, 1).got(5002, 1, 1).want(5010, 2).place(5011, 2, 2)
	connected := func(at int, state string) {
		r.add(at, histories.Event{Type: histories.Says, Process: p, Saying: &histories.Saying{Connection: state, Client: p}})
	}
	r.fault(5020, histories.FaultStart, "isolate", 2)
	connected(5030, histories.ConnectionSuspended)
	if at < 5060 {
		connected(at, histories.ConnectionReconnected)
	}
	r.fault(5060, histories.FaultStop, "isolate", 2)
	if at > 5060 {
		connected(at, histories.ConnectionReconnected)
	}
	r.release(5099, 1).released(5100, 1).grant(7090, 2, 1)
}

// behindACrash is a waiter, process 5, that sleeps on after process 3 has given the lock back. Process 2,
// which came before both at a time, has crashed, after more has happened to it.
func (r *run) behindACrash(came int, more func()) {
	r.promising().want(came, 1).place(came+1, 1, 1).got(came+2, 1, 1).want(came+10, 2).place(came+11, 2, 2).want(came+20, 3).place(came+21, 3, 3)
	more()
	r.awake(7300).crash(7302, 2).want(7310, 5).place(7311, 5, 5).release(7320, 1).released(7321, 1).got(7322, 3, 3).release(7369, 3).released(7370, 3).grant(9300, 5, 1, 3)
}

func TestWhoIsFirstInAQueueIsWoken(t *testing.T) {
	answers(t, Progress, []known{
		{"a waiter sleeps on behind one that was granted the lock after one that crashed", func(r *run) { r.behindACrash(7200, func() {}) }, verdict.Violated},
		{"a waiter sleeps on, perhaps behind one that queued again after its node was deleted", func(r *run) {
			r.behindACrash(7200, func() { deletes(r, 7230, 2) })
		}, verdict.Holds},
		{"a waiter sleeps on, perhaps behind one that queued again after its session was expired", func(r *run) {
			r.behindACrash(7200, func() { r.expire(7230, 2) })
		}, verdict.Holds},
		{"a waiter sleeps on, perhaps behind one that queued again after its session had expired", func(r *run) {
			r.behindACrash(5000, func() {})
		}, verdict.Holds},
		{"a waiter sleeps on when the lock is given back", func(r *run) { r.promising().line(2).grant(7000, 2, 1) }, verdict.Violated},
		{"a waiter is woken when the lock is given back", func(r *run) { r.promising().line(2).grant(6000, 2, 1) }, verdict.Holds},
		{"a waiter sleeps on, and no wake-up was promised", func(r *run) {
			r.promising().line(2).grant(7000, 2, 1)
			r.h.Header.Promises.TurnBound = 0
		}, verdict.Holds},
		{"a waiter sleeps on and no order was promised", func(r *run) {
			r.promising().line(2).grant(7000, 2, 1)
			r.h.Header.Promises.FIFO = false
		}, verdict.Holds},
		{"a waiter sleeps on and gives up", func(r *run) {
			r.promising().line(2).awake(7000).answer(7000, histories.Fail, 2, histories.Acquire).recovers(12000, 1, 2)
		}, verdict.Violated},
		{"a waiter gives up soon", func(r *run) {
			r.promising().line(2).awake(6000).answer(6000, histories.Fail, 2, histories.Acquire).recovers(12000, 1, 2)
		}, verdict.Holds},
		{"a waiter sleeps on and then its run is cut short", func(r *run) {
			r.phase(0, histories.PhaseChaos).promising().line(2).want(5200, 1).place(5201, 1, 3).awake(7000).got(7000, 2, 2)
		}, verdict.Violated},
		{"a waiter sleeps on behind one whose session may have ended under its release", func(r *run) {
			r.promising().line(2).awake(7000).got(7000, 2, 2).release(7001, 2).released(7002, 2).recovers(12000, 2)
			r.add(12100, histories.Event{Type: histories.Expired, Process: -1, Session: session(1)})
		}, verdict.Unknown},
		{"a waiter sleeps on under a fault", func(r *run) {
			r.promising().line(2).awake(5800).fault(5800, histories.FaultStart, "isolate", 2).awake(6300).fault(6300, histories.FaultStop, "isolate", 2).grant(7000, 2, 1)
		}, verdict.Holds},
		{"a waiter sleeps on after a fault", func(r *run) {
			r.promising().want(5000, 1).place(5001, 1, 1).got(5002, 1, 1).want(5010, 2).place(5011, 2, 2)
			r.fault(5020, histories.FaultStart, "isolate", 2).fault(5060, histories.FaultStop, "isolate", 2).release(5099, 1).released(5100, 1).grant(7000, 2, 1)
		}, verdict.Holds},
		{"a waiter sleeps on long after a fault", func(r *run) {
			r.promising().want(5000, 1).place(5001, 1, 1).got(5002, 1, 1).want(5010, 2).place(5011, 2, 2)
			r.fault(5020, histories.FaultStart, "isolate", 2).fault(5060, histories.FaultStop, "isolate", 2).release(5099, 1).released(5100, 1).grant(8200, 2, 1)
		}, verdict.Violated},
		{"a waiter sleeps on that was told its place since the fault", func(r *run) {
			r.promising().fault(5000, histories.FaultStart, "isolate", 2).fault(5001, histories.FaultStop, "isolate", 2).awake(5500)
			r.want(5510, 1).place(5511, 1, 1).got(5512, 1, 1).want(5520, 2).place(5521, 2, 2).release(5599, 1).released(5600, 1).grant(7000, 2, 1)
		}, verdict.Violated},
		{"a waiter sleeps on that has connected again since the fault", func(r *run) { r.sleepsConnected(2, 5070) }, verdict.Violated},
		{"a waiter sleeps on that connected again during the fault", func(r *run) { r.sleepsConnected(2, 5050) }, verdict.Holds},
		{"a waiter sleeps on when another has connected again", func(r *run) { r.sleepsConnected(3, 5070) }, verdict.Holds},
		{"a waiter sleeps on under the fault of another", func(r *run) {
			r.promising().fault(5000, histories.FaultStart, "isolate", 3).line(2).awake(6300).fault(6300, histories.FaultStop, "isolate", 3).grant(7000, 2, 1)
		}, verdict.Violated},
		{"a waiter sleeps on under a fault of a server", func(r *run) {
			f := histories.Fault{ID: 1, Name: "isolate-server", Targets: []string{"server 1"}, Processes: []int{3}}
			r.promising().line(2).awake(6050).add(6050, histories.Event{Type: histories.FaultStart, Process: -1, Fault: &f}).awake(6300).
				add(6300, histories.Event{Type: histories.FaultStop, Process: -1, Fault: &f}).grant(7000, 2, 1)
		}, verdict.Holds},
		{"a waiter sleeps on while its session ends", func(r *run) {
			r.promising().line(2).awake(6500).expired(6500, 2).
				awake(7000).op(7000, histories.OK, 2, histories.Acquire, histories.Event{Token: tok(9), Depth: 1, Session: "s9"}).
				release(7001, 2).released(7002, 2).recovers(12000, 1, 2)
		}, verdict.Holds},
		{"a waiter sleeps on while nothing goes on record", func(r *run) {
			r.promising().line(2).awake(5500).server(6300, histories.Alone).grant(7000, 2, 1)
		}, verdict.Holds},
		{"a waiter sleeps on while all that goes on record is that others gave up", func(r *run) {
			r.promising().line(2)
			for ms := 5200; ms < 7000; ms += 100 {
				r.want(ms, 3).answer(ms+1, histories.Fail, 3, histories.Acquire)
			}
			r.grant(7000, 2, 1, 3)
		}, verdict.Violated},
		{"a waiter sleeps on while a server is silent", func(r *run) {
			r.promising().line(2).awake(6100).server(6100, histories.Silent).awake(6200).grant(7000, 2, 1)
		}, verdict.Holds},
		{"a waiter sleeps on while another waits for its place", func(r *run) {
			other := histories.Event{Lock: "b"}
			r.promising().line(2).awake(5600).op(5600, histories.Invoke, 3, histories.TryAcquire, other).awake(6000).
				add(6000, histories.Event{Type: histories.Enqueued, Process: 3, Lock: "b", Token: tok(30), Session: "s3"}).
				op(6001, histories.Fail, 3, histories.TryAcquire, other).crash(6002, 3).awake(7000).got(7000, 2, 2)
			for i, lock := range []string{"a", "b"} {
				for p := range 2 {
					if i == 0 && p == 0 {
						r.release(7001, 2).released(7002, 2).phase(12000, histories.PhaseRecovery)
					}
					e := histories.Event{Lock: lock, Token: tok(100 + 10*i + p), Depth: 1}
					at := 12001 + 10*i + 3*p
					r.op(at, histories.Invoke, p+1, histories.Acquire, histories.Event{Lock: lock}).op(at, histories.OK, p+1, histories.Acquire, e)
					r.op(at+1, histories.Invoke, p+1, histories.Release, e).op(at+1, histories.OK, p+1, histories.Release, e)
				}
			}
			r.phase(12100, histories.PhaseEnd)
		}, verdict.Holds},
		{"a waiter sleeps on after a release without an answer", func(r *run) {
			r.promising().want(5000, 1).place(5001, 1, 1).got(5002, 1, 1).want(5010, 2).place(5011, 2, 2)
			r.release(5099, 1).answer(5100, histories.Info, 1, histories.Release).grant(7000, 2)
		}, verdict.Holds},
		{"a waiter sleeps on behind one that has crashed", func(r *run) {
			r.promising().want(5000, 1).place(5001, 1, 1).got(5002, 1, 1).want(5010, 2).place(5011, 2, 2).want(5020, 3).place(5021, 3, 3)
			r.crash(5030, 2).release(5099, 1).released(5100, 1).grant(7000, 3, 1)
		}, verdict.Holds},
		{"a waiter sleeps on behind one that had crashed before the holder was granted the lock", func(r *run) {
			r.promising().want(5000, 1).place(5001, 1, 1).want(5010, 2).place(5011, 2, 2).want(5020, 3).place(5021, 3, 3)
			r.crash(5030, 2).got(5040, 1, 1).release(5099, 1).released(5100, 1).grant(7000, 3, 1)
		}, verdict.Holds},
		{"a waiter sleeps on after a grant behind one that had crashed before the holder was granted the lock", func(r *run) {
			r.promising().want(5000, 1).place(5001, 1, 1).want(5010, 2).place(5011, 2, 2).want(5020, 3).place(5021, 3, 3)
			r.crash(5030, 2).got(5040, 1, 1).release(5099, 1).released(5100, 1).awake(7000).got(7000, 3, 3).want(7010, 4).place(7011, 4, 4)
			r.release(7020, 3).released(7021, 3).grant(9000, 4, 1, 3)
		}, verdict.Violated},
		{"a waiter sleeps on behind one that has just given up", func(r *run) {
			r.promising().line(2, 3).awake(5900).answer(5900, histories.Fail, 2, histories.Acquire).grant(7000, 3, 1, 2)
		}, verdict.Holds},
		{"a waiter sleeps on behind one that has given up", func(r *run) {
			r.promising().line(2, 3).answer(5200, histories.Fail, 2, histories.Acquire).grant(7000, 3, 1, 2)
		}, verdict.Violated},
		{"a waiter sleeps on behind one that has given up and crashed", func(r *run) {
			r.promising().line(2, 3).answer(5200, histories.Fail, 2, histories.Acquire).crash(5201, 2).grant(7000, 3, 1)
		}, verdict.Holds},
		{"a waiter sleeps on behind one that has given up under a fault", func(r *run) {
			r.promising().fault(5000, histories.FaultStart, "isolate", 2).line(2, 3).answer(5200, histories.Fail, 2, histories.Acquire).
				fault(5200, histories.FaultStop, "isolate", 2).grant(7000, 3, 1, 2)
		}, verdict.Holds},
		{"a waiter sleeps on while one at an unknown place waits", func(r *run) {
			r.promising().want(5000, 1).place(5001, 1, 1).got(5002, 1, 1).want(5005, 3).want(5010, 2).place(5011, 2, 2)
			r.release(5099, 1).released(5100, 1).awake(7000).got(7000, 2, 2).crash(7001, 3).release(7002, 2).released(7003, 2).recovers(12000, 1, 2)
		}, verdict.Holds},
		{"a waiter sleeps on while one that came later waits", func(r *run) {
			r.promising().line(2).want(5200, 3).awake(7000).got(7000, 2, 2).crash(7001, 3).release(7002, 2).released(7003, 2).recovers(12000, 1, 2)
		}, verdict.Violated},
		{"a waiter sleeps on behind one that has lost its place since", func(r *run) {
			r.promising().line(2, 3).awake(6500).add(6500, histories.Event{Type: histories.Enqueued, Process: 2, Lock: "a", Token: tok(9), Session: "s9"}).awake(7000).
				got(7000, 3, 3).release(7001, 3).released(7002, 3).
				op(7003, histories.OK, 2, histories.Acquire, histories.Event{Token: tok(9), Depth: 1, Session: "s9"}).release(7004, 2).released(7005, 2).recovers(12000, 1, 2, 3)
		}, verdict.Holds},
		{"a waiter sleeps on after a grant behind one that had given up under a fault", func(r *run) { gaveUpUnderAFault(r, session(3), true, 5050) }, verdict.Violated},
		{"a waiter sleeps on after a grant of the session that had given up under a fault", func(r *run) { gaveUpUnderAFault(r, session(2), true, 5050) }, verdict.Holds},
		{"a waiter sleeps on after a grant long behind one that had given up under a fault without a place", func(r *run) { gaveUpUnderAFault(r, session(3), false, 6000) }, verdict.Violated},
		{"a waiter sleeps on after a grant soon behind one that had given up under a fault without a place", func(r *run) { gaveUpUnderAFault(r, session(3), false, 5050) }, verdict.Holds},
		{"a waiter sleeps on while one waits behind it", func(r *run) {
			r.promising().line(2, 3).awake(7000).got(7000, 2, 2).release(7001, 2).released(7002, 2).got(7003, 3, 3).release(7004, 3).released(7005, 3).recovers(12000, 1, 2, 3)
		}, verdict.Violated},
	})
}

func TestReadersAndWritersAreWoken(t *testing.T) {
	asks := func(r *run, ms, p int, mode histories.Mode) {
		r.op(ms, histories.Invoke, p, histories.Acquire, histories.Event{Mode: mode})
		r.add(ms+1, histories.Event{Type: histories.Enqueued, Process: p, Lock: "a", Mode: mode, Token: tok(p), Session: session(p)})
	}
	got := func(r *run, ms, p int, mode histories.Mode) {
		r.op(ms, histories.OK, p, histories.Acquire, histories.Event{Mode: mode, Token: tok(p), Depth: 1, Session: session(p)})
	}
	gives := func(r *run, ms, p int, mode histories.Mode) {
		e := histories.Event{Mode: mode, Depth: 1}
		r.op(ms, histories.Invoke, p, histories.Release, e).op(ms+1, histories.OK, p, histories.Release, e)
	}
	const read, write = histories.ModeRead, histories.ModeWrite
	begins := func(r *run, first histories.Mode) {
		r.h.Header.Recipe = string(histories.ReadWrite)
		r.promising()
		asks(r, 5000, 1, first)
		got(r, 5002, 1, first)
	}
	ends := func(r *run) { r.phase(15000, histories.PhaseChaos) }
	answers(t, Progress, []known{
		{"a writer sleeps on when the last reader has left", func(r *run) {
			begins(r, read)
			asks(r, 5010, 2, write)
			gives(r, 5100, 1, read)
			r.op(5200, histories.Invoke, 1, histories.Acquire, histories.Event{Mode: read})
			r.add(5201, histories.Event{Type: histories.Enqueued, Process: 1, Lock: "a", Mode: read, Token: tok(9), Session: session(1)})
			r.awake(7000)
			got(r, 7000, 2, write)
			ends(r)
		}, verdict.Violated},
		{"a writer waits for the last reader", func(r *run) {
			begins(r, read)
			asks(r, 5010, 2, read)
			got(r, 5012, 2, read)
			asks(r, 5020, 3, write)
			gives(r, 5100, 1, read)
			r.awake(7000)
			gives(r, 7000, 2, read)
			got(r, 7100, 3, write)
			ends(r)
		}, verdict.Unknown},
		{"a reader sleeps on behind a reader", func(r *run) {
			begins(r, write)
			asks(r, 5010, 2, read)
			asks(r, 5020, 3, read)
			gives(r, 5100, 1, write)
			got(r, 5110, 2, read)
			r.awake(7000)
			got(r, 7000, 3, read)
			ends(r)
		}, verdict.Violated},
		{"a writer waits for the node of a reader that has crashed", func(r *run) {
			begins(r, write)
			asks(r, 5010, 2, read)
			asks(r, 5020, 3, read)
			asks(r, 5030, 4, write)
			r.crash(5040, 2)
			gives(r, 5100, 1, write)
			got(r, 5110, 3, read)
			gives(r, 5120, 3, read)
			r.awake(7000)
			got(r, 7000, 4, write)
			ends(r)
		}, verdict.Unknown},
		{"a writer waits for the node of a reader that was a writer", func(r *run) {
			begins(r, write)
			asks(r, 5010, 2, write)
			r.fault(5030, histories.FaultStart, "isolate", 1)
			r.op(5040, histories.Invoke, 1, histories.Acquire, histories.Event{Mode: read}).op(5060, histories.Fail, 1, histories.Acquire, histories.Event{Mode: read})
			r.fault(5065, histories.FaultStop, "isolate", 1)
			gives(r, 5080, 1, write)
			r.awake(6800)
			r.op(6800, histories.Invoke, 1, histories.Acquire, histories.Event{Mode: read})
			r.add(6801, histories.Event{Type: histories.Enqueued, Process: 1, Lock: "a", Mode: read, Token: tok(8), Session: session(1)})
			r.awake(7000)
			got(r, 7000, 2, write)
			ends(r)
		}, verdict.Unknown},
		{"readers wait for the node of a writer that has crashed", func(r *run) {
			begins(r, read)
			asks(r, 5010, 4, write)
			asks(r, 5020, 5, read)
			asks(r, 5030, 6, read)
			r.crash(5040, 4)
			gives(r, 5100, 1, read)
			r.awake(7000)
			got(r, 7000, 5, read)
			got(r, 7001, 6, read)
			ends(r)
		}, verdict.Unknown},
	})
}

// In virtual time, where no machine is busy, a turn that comes late shows that a wake-up was missed, also
// if the contender looks again by itself before the bound.
func TestInVirtualTimeATurnComesAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		clock, after time.Duration
		returns      bool
		want         verdict.Outcome
	}{
		"it comes late":                                {0, 900, true, verdict.Violated},
		"it comes soon":                                {0, 100, true, verdict.Holds},
		"it comes late in a run on servers":            {time.Millisecond, 900, true, verdict.Holds},
		"it comes late at a target that may take long": {0, 900, false, verdict.Holds},
	} {
		r, log := newRun(t), newServers()
		log.Clock = test.clock
		r.h.Header.Promises.Returns = test.returns
		r.promising().line(2).grant(5100+int(test.after), 2, 1)
		if v := r.report(WithService(&log.Log)).Verdict(Progress); v.Outcome != test.want {
			t.Errorf("%s: %v", name, v)
		}
	}
}
