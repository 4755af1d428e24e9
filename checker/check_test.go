package checker

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// good puts every guarantee to the test, and violates none.
func good(r *run) *run {
	r.h.Header.Promises.Guards, r.h.Header.Promises.Connects = true, 20
	r.phase(0, histories.PhaseChaos)
	r.want(1, 1).place(2, 1, 1).want(2, 2).place(2, 2, 2).got(3, 1, 1)
	r.want(4, 1).deeper(5, 1, 1, 2).inner(6, 7, 1, 2)
	for _, store := range []string{histories.StoreFenced, histories.StoreGuarded, histories.StorePlain} {
		read, write := histories.Event{Store: store}, histories.Event{Store: store, Value: 1}
		r.op(8, histories.Invoke, 1, histories.Read, read).op(8, histories.OK, 1, histories.Read, read)
		r.op(8, histories.Invoke, 1, histories.Write, write).op(8, histories.OK, 1, histories.Write, write)
	}
	r.fault(10, histories.FaultStart, histories.ForcedExpiry, 1).fault(11, histories.FaultStop, histories.ForcedExpiry, 1)
	r.expired(12, 1).lost(13, 1).got(14, 2, 2).release(20, 2).released(21, 2)
	renewed := histories.Event{Token: tok(3), Depth: 1, Session: "renewed"}
	r.phase(30, histories.PhaseRecovery).want(31, 1).op(31, histories.OK, 1, histories.Acquire, renewed).release(32, 1).released(32, 1)
	r.cycle(33, 34, 2, 4)
	r.says(36, 2, histories.Event{}, histories.Saying{Held: no})
	return r.phase(40, histories.PhaseEnd).add(41, histories.Event{Type: histories.CensusDone, Process: -1, Census: &histories.Census{
		Connects: []histories.Connects{{Attempts: 3, Most: 2}},
	}})
}

func TestARunThatPutsEverythingToTheTestHolds(t *testing.T) {
	rep := good(newRun(t)).report()
	for _, v := range rep.Verdicts {
		if v.Outcome != verdict.Holds {
			t.Error(v.String(), v.Witnesses)
		}
	}
	if rep.Outcome() != verdict.Holds {
		t.Error(rep.Reason())
	}
	of := 0
	for _, g := range Guarantees() {
		if g.appliesTo(histories.Mutex) && !g.ofServers {
			of++
		}
	}
	if len(rep.Verdicts) != of || of < 9 {
		t.Errorf("%d verdicts on %d guarantees of a mutex", len(rep.Verdicts), of)
	}
}

func TestTheWorstVerdictIsThatOfTheRun(t *testing.T) {
	v := func(o verdict.Outcome, promised, expected bool) verdict.Verdict {
		return verdict.Verdict{Outcome: o, Promised: promised, Expected: expected}
	}
	for _, c := range []struct {
		name     string
		verdicts []verdict.Verdict
		idle     string
		want     verdict.Outcome
	}{
		{"all hold", []verdict.Verdict{v(verdict.Holds, true, true)}, "", verdict.Holds},
		{"one is violated", []verdict.Verdict{v(verdict.Holds, true, true), v(verdict.Unknown, true, true), v(verdict.Violated, true, true)}, "idle", verdict.Violated},
		{"one is unknown", []verdict.Verdict{v(verdict.NotExercised, true, true), v(verdict.Unknown, true, true)}, "idle", verdict.Unknown},
		{"one was not exercised", []verdict.Verdict{v(verdict.Holds, true, true), v(verdict.NotExercised, true, true)}, "", verdict.NotExercised},
		{"one is not promised", []verdict.Verdict{v(verdict.Holds, true, true), v(verdict.NotPromised, false, true)}, "", verdict.Holds},
		{"one was not meant to be exercised", []verdict.Verdict{v(verdict.Holds, true, true), v(verdict.NotExercised, true, false)}, "", verdict.Holds},
		{"no lease met a fault", []verdict.Verdict{v(verdict.Holds, true, true)}, "idle", verdict.NotExercised},
		{"one was not judged", []verdict.Verdict{v(verdict.Holds, true, true), v(verdict.NotJudged, true, true)}, "", verdict.NotJudged},
		{"one was neither judged nor exercised", []verdict.Verdict{v(verdict.NotJudged, true, true), v(verdict.NotExercised, true, true)}, "", verdict.NotExercised},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (&Report{Verdicts: c.verdicts, idle: c.idle}).Outcome(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestFaultsThatMetNoLeaseHaveShownNothing(t *testing.T) {
	r := newRun(t)
	r.cycle(0, 1, 1, 1).fault(2, histories.FaultStart, "isolate").fault(3, histories.FaultStop, "isolate").cycle(4, 5, 2, 2)
	if rep := r.report(); rep.idle == "" || rep.Outcome() != verdict.NotExercised && rep.Outcome() != verdict.Violated {
		t.Error(rep.Outcome(), rep.Reason())
	}
	r = newRun(t)
	r.h.Header.Options = map[string]string{"faults": "all"}
	if rep := r.cycle(0, 1, 1, 1).report(); rep.idle == "" {
		t.Error("faults were asked for and none started")
	}
}

func TestCoverageCountsWhatAFaultMet(t *testing.T) {
	r := newRun(t)
	r.want(0, 1).got(1, 1, 1)               // holding
	r.want(2, 2).place(3, 2, 2)             // waiting
	r.want(4, 3)                            // enqueuing
	r.want(4, 4).got(4, 4, 3).release(5, 4) // releasing
	r.cycle(5, 5, 5, 4)                     // idle
	r.want(5, 6).crash(5, 6)                // gone
	r.fault(6, histories.FaultStart, "isolate")
	rep := r.report()
	want := Coverage{{Fault: "isolate", Starts: 1, Met: map[State]int{Idle: 1, Enqueuing: 1, Waiting: 1, Holding: 1, Releasing: 1}}}
	if !reflect.DeepEqual(rep.Coverage, want) {
		t.Errorf("got %v, want %v", rep.Coverage, want)
	}
	r.h.Events[len(r.h.Events)-1].Fault.Processes = []int{5}
	want = Coverage{{Fault: "isolate", Starts: 1, Met: map[State]int{Idle: 1, Enqueuing: 0, Waiting: 0, Holding: 0, Releasing: 0}}}
	if rep := r.report(); !reflect.DeepEqual(rep.Coverage, want) {
		t.Errorf("on process 5 alone: got %v, want %v", rep.Coverage, want)
	}
}

func TestAReportSurvivesJSON(t *testing.T) {
	r := newRun(t)
	r.want(0, 1).got(1, 1, 1).fault(1, histories.FaultStart, "isolate", 1).want(2, 2).got(3, 2, 2)
	rep := r.report()
	b, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	var again Report
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*rep, again) {
		t.Errorf("%+v\n%+v", *rep, again)
	}
	if again.Outcome() != verdict.Violated {
		t.Error(again.Outcome())
	}
}

func TestAnInvalidHistoryIsAnErrorAndNoVerdict(t *testing.T) {
	r := newRun(t)
	r.got(1, 1, 1)
	var f *histories.FormatError
	if rep, err := Check(context.Background(), r.h); !errors.As(err, &f) || rep != nil {
		t.Error(rep, err)
	}
}

func TestACheckThatIsCancelledGivesNoVerdict(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if rep, err := Check(ctx, good(newRun(t)).h); !errors.Is(err, context.Canceled) || rep != nil {
		t.Error(rep, err)
	}
}

// The interval engine alone has no other engine to agree with.
func TestWhatPorcupineCannotAffordIsUnknown(t *testing.T) {
	for name, o := range map[string]Option{"time": WithTimeLimit(-1), "memory": WithMemoryLimit(0)} {
		t.Run(name, func(t *testing.T) {
			for engine, want := range map[Engine]verdict.Outcome{Both: verdict.Unknown, Porcupine: verdict.Unknown, Interval: verdict.Holds} {
				rep, err := Check(context.Background(), good(newRun(t)).h, o, WithEngine(engine))
				if err != nil {
					t.Fatal(err)
				}
				v := rep.Verdict(MutualExclusion)
				if v.Outcome != want || want == verdict.Unknown && !strings.Contains(v.Reason, "Porcupine gave up") {
					t.Error(engine, v)
				}
			}
			broken := newRun(t).want(0, 1).got(1, 1, 1).cycle(5, 5, 2, 2).release(9, 1).released(9, 1)
			rep, err := Check(context.Background(), broken.h, o)
			if err != nil {
				t.Fatal(err)
			}
			if v := rep.Verdict(MutualExclusion); v.Outcome != verdict.Violated {
				t.Errorf("what the interval engine has found does not count: %v", v)
			}
		})
	}
}

// minute makes a legal history of n cycles on 5 locks by 10 clients, with
// places, re-entries, both counters and a fault now and then.
//
// With jumps, every so many cycles a client is served out of turn.
func minute(n, clients, jumps int) *histories.History {
	r := rand.New(rand.NewPCG(4, 4))
	h := &histories.History{Header: histories.Header{Version: 1, Promises: everything, SessionTimeout: 2 * time.Second}}
	now, zxid := time.Duration(0), int64(0)
	add := func(e histories.Event) {
		now += time.Duration(1 + r.IntN(100_000))
		e.Time = now
		h.Events = append(h.Events, e)
	}
	add(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseChaos})
	locks := []string{"a", "b", "c", "d", "e"}
	queue := make([][]histories.Event, len(locks)) // each client keeps to one lock
	values := make([]int64, len(locks))
	ask := func(l, p int) {
		zxid++
		e := histories.Event{Process: p, Op: histories.Acquire, Lock: locks[l], Depth: 1, Token: histories.Token{Zxid: zxid}, Session: session(p)}
		add(histories.Event{Type: histories.Invoke, Process: p, Op: e.Op, Lock: e.Lock})
		add(histories.Event{Type: histories.Enqueued, Process: p, Lock: e.Lock, Token: e.Token, Session: e.Session})
		queue[l] = append(queue[l], e)
	}
	for p := range clients {
		ask(p%len(locks), p)
	}
	both := func(e histories.Event) {
		e.Type = histories.Invoke
		add(e)
		e.Type = histories.OK
		add(e)
	}
	for i := range n {
		l := r.IntN(len(locks))
		at := 0
		if jumps > 0 && i%jumps == 0 {
			at = len(queue[l]) - 1
		}
		e := queue[l][at]
		queue[l] = slices.Delete(queue[l], at, at+1)
		e.Type = histories.OK
		add(e)
		if i%100 == 0 {
			f := &histories.Fault{ID: i, Name: "isolate"}
			add(histories.Event{Type: histories.FaultStart, Process: -1, Fault: f})
			add(histories.Event{Type: histories.FaultStop, Process: -1, Fault: f})
		}
		both(histories.Event{Process: e.Process, Op: histories.Read, Lock: e.Lock, Store: histories.StorePlain, Value: values[l]})
		values[l]++
		both(histories.Event{Process: e.Process, Op: histories.Write, Lock: e.Lock, Store: histories.StorePlain, Value: values[l]})
		both(histories.Event{Process: e.Process, Op: histories.Release, Lock: e.Lock, Depth: 1})
		ask(l, e.Process)
	}
	return h
}

// Porcupine must be able to decide a whole run: cut into segments, it needs
// little memory for each, and no lock is left to the interval engine alone.
func TestPorcupineDecidesAWholeMinute(t *testing.T) {
	for _, c := range []struct {
		name           string
		clients, jumps int
		want           verdict.Outcome
	}{
		{"of ten clients", 10, 0, verdict.Holds},
		{"of many clients, with many out of turn", 250, 100, verdict.Violated},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := minute(11_000, c.clients, c.jumps)
			rep, err := Check(context.Background(), h, WithMemoryLimit(1<<20), WithTimeLimit(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			if v := rep.Verdict(Fairness); v.Outcome != c.want {
				t.Error(v)
			}
			if v := rep.Verdict(MutualExclusion); v.Outcome != verdict.Holds {
				t.Error(v)
			}
			if len(rep.Notes) > 0 {
				t.Error(rep.Notes)
			}
		})
	}
}

func BenchmarkCheckOfAMinute(b *testing.B) {
	h := minute(11_000, 10, 0)
	b.ReportMetric(float64(len(h.Events)), "events")
	for b.Loop() {
		if _, err := Check(context.Background(), h); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNoLockIsJudgedOnServersThatDisagree(t *testing.T) {
	r := good(newRun(t))
	census := r.h.Events[len(r.h.Events)-1].Census
	census.Contenders = []string{"/locks/a/x"} // violates "no leak"
	census.Disagreements = []string{"only 1 of 3 servers (2) have /locks/a/x"}
	rep := r.report()
	if rep.Outcome() != verdict.Unknown || rep.Verdict(NoLeak).Outcome != verdict.Violated {
		t.Errorf("the run: %s, the leak: %s", rep.Outcome(), rep.Verdict(NoLeak).Outcome)
	}
}

// A long history that is read as a whole is not read to its end before ctx is checked.
func TestReadingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	header := histories.Header{Version: histories.Version, Locks: map[string]histories.Lock{"s": {Recipe: histories.Semaphore, Size: 1}}}
	n := 0
	endless := func(yield func(*histories.Event, error) bool) {
		for {
			if n++; n == 10 {
				cancel()
			}
			e := histories.Event{Type: histories.Expired, Process: -1, Session: "s", Time: time.Duration(n)}
			if n > 1000 || !yield(&e, nil) {
				return
			}
		}
	}
	if r, err := CheckEvents(ctx, header, endless); !errors.Is(err, context.Canceled) || r != nil || n > 10 {
		t.Errorf("%v, %v after %d events", r, err, n)
	}
}
