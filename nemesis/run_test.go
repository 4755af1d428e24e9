package nemesis

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeLink notes its cuts and heals.
type fakeLink struct {
	name string
	log  func(string)
	heal error
}

func (l *fakeLink) Name() string { return l.name }
func (l *fakeLink) Addr() string { return l.name }
func (l *fakeLink) Close() error { return nil }

func (l *fakeLink) Cut(_ context.Context, c links.Cut) error {
	l.log(fmt.Sprintf("%s %s", c, l.name))
	return nil
}

func (l *fakeLink) Delay(_ context.Context, latency, jitter time.Duration) error {
	l.log("delay " + l.name)
	return nil
}

func (l *fakeLink) Stall(context.Context, bool, bool) error { return nil }
func (l *fakeLink) DelayReplies(context.Context, time.Duration) error {
	l.log("delay replies " + l.name)
	return nil
}

func (l *fakeLink) Throttle(_ context.Context, bytesPerSecond int) error {
	l.log(fmt.Sprintf("throttle %s to %d", l.name, bytesPerSecond))
	return nil
}

func (l *fakeLink) Slice(_ context.Context, size int, pause time.Duration) error {
	l.log(fmt.Sprintf("slice %s by %d, %v", l.name, size, pause))
	return nil
}

func (l *fakeLink) Truncate(_ context.Context, bytes int) error {
	l.log(fmt.Sprintf("truncate %s after %d", l.name, bytes))
	return nil
}

func (l *fakeLink) Heal(context.Context) error {
	l.log("heal " + l.name)
	return l.heal
}

// fakeWorld is a world of clients with one link each. It is its own recorder
// and keeps everything that happens in one log.
type fakeWorld struct {
	start   time.Time
	clients []fault.Client

	mu  sync.Mutex
	log []string
}

func newWorld(clients ...fault.Client) *fakeWorld {
	w := &fakeWorld{start: time.Now(), clients: clients}
	for i := range w.clients {
		c := &w.clients[i]
		c.Index, c.Process = i, i
		c.Links = map[int]links.Link{1: &fakeLink{name: fmt.Sprintf("client %d", i), log: w.note}}
	}
	return w
}

func (w *fakeWorld) Ensemble() ensemble.Ensemble   { return nil }
func (w *fakeWorld) SessionTimeout() time.Duration { return 2 * time.Second }

func (w *fakeWorld) Clients() []fault.Client {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.clients)
}

func (w *fakeWorld) note(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf("%v %s", time.Since(w.start), s))
}

func (w *fakeWorld) Record(e histories.Event) (histories.Event, error) {
	w.note(fmt.Sprintf("%s %d %s %v", e.Type, e.Fault.ID, e.Fault.Name, e.Fault.Processes))
	return e, nil
}

func (w *fakeWorld) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(w.log, want) {
		t.Errorf("happened:\n  %s\nwant:\n  %s", strings.Join(w.log, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestAFaultIsOnRecordBeforeItStartsAndUntilItIsHealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(fault.Client{Linked: 1, States: []states.State{states.Holding}})
		report, err := Run(t.Context(), w, faults.List(), Schedule{Steps: []Step{
			{At: time.Second, For: 2 * time.Second, Fault: "black-hole", Pick: fault.Pick{Aim: fault.AtHolder}},
		}}, w)
		if err != nil || report.Struck != 1 {
			t.Errorf("report %+v, error %v", report, err)
		}
		w.expect(t,
			"1s fault-start 1 black-hole [0]",
			"1s black-hole client 0",
			"3s heal client 0",
			"3s fault-stop 1 black-hole [0]")
	})
}

// The results of a fault are taken when it is healed, and recorded with its end.
func TestWhatCameOfAFaultIsOnRecordWithItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		healed := false
		kind := fault.Kind{Name: "tells", Span: fault.Instant, Make: func(fault.Scene) (fault.Fault, error) {
			return fault.Fault{
				Name: "tells", HealWithin: time.Second,
				Start: func(context.Context) error { return nil }, Stop: func(context.Context) error { healed = true; return nil },
				Came: func() map[string]string { return map[string]string{"healed": fmt.Sprint(healed)} },
			}, nil
		}}
		rec := &tape{start: time.Now()}
		if _, err := Run(t.Context(), newWorld(), fault.Kinds{kind}, Schedule{[]Step{{Fault: "tells"}}}, rec); err != nil {
			t.Fatal(err)
		}
		if began, over := rec.events[0].Fault.Params, rec.events[1].Fault.Params; began["healed"] != "" || over["healed"] != "true" || over["healing"] == "" {
			t.Errorf("on record: %v, %v", began, over)
		}
	})
}

func TestAFaultIsAimedAtWhomItPrefers(t *testing.T) {
	// An enqueuing client counts as a waiter too: some locks never report a place in their queue.
	for aim, victims := range map[fault.Aim]string{fault.AtHolder: "1", fault.AtWaiter: "23", fault.AtEnqueuing: "3", fault.AtReleasing: "4"} {
		t.Run(string(aim), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(fault.Client{Linked: 1}, fault.Client{Linked: 1, States: []states.State{states.Holding}}, fault.Client{Linked: 1, States: []states.State{states.Waiting}}, fault.Client{Linked: 1, States: []states.State{states.Enqueuing}}, fault.Client{Linked: 1, States: []states.State{states.Releasing}})
				var steps []Step
				for i := range 10 {
					steps = append(steps, Step{At: time.Duration(i) * time.Second, For: time.Millisecond, Fault: "down", Pick: fault.Pick{Aim: aim, Draw: uint32(i)}})
				}
				if _, err := Run(t.Context(), w, faults.List(), Schedule{steps}, w); err != nil {
					t.Fatal(err)
				}
				for _, line := range w.log {
					if strings.Contains(line, "fault-start") && !strings.ContainsAny(line[strings.Index(line, "["):], victims) {
						t.Errorf("%s; want one of clients %s", line, victims)
					}
				}
			})
		})
	}
}

func TestAScheduleMaySayWhichLinksAreHit(t *testing.T) {
	for which, want := range map[fault.Links]int{fault.OneLink: 1, fault.AllLinks: 3} {
		t.Run(string(which), func(t *testing.T) {
			for draw := range uint32(20) {
				w := newWorld(fault.Client{Linked: 2})
				w.clients[0].Links = map[int]links.Link{}
				for id := 1; id <= 3; id++ {
					w.clients[0].Links[id] = &fakeLink{name: fmt.Sprintf("server %d", id), log: w.note}
				}
				kind, err := faults.List().Named("truncated-reply")
				if err != nil {
					t.Fatal(err)
				}
				f, err := kind.Make(fault.NewScene(w, kind.Name, fault.Pick{Draw: draw, Links: which, Params: map[string]string{"bytes": "9"}}, nil, true))
				if err != nil {
					t.Fatal(err)
				}
				if err := f.Start(t.Context()); err != nil || len(w.log) != want || want == 1 && !strings.Contains(w.log[0], "server 2") {
					t.Fatalf("draw %d: %v, %v", draw, w.log, err)
				}
			}
		})
	}
}

func TestFaultsThatOverlapHitDifferentClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(fault.Client{Linked: 1, States: []states.State{states.Holding}}, fault.Client{Linked: 1, States: []states.State{states.Holding}})
		var steps []Step
		for i := range 3 {
			steps = append(steps, Step{For: time.Minute, Fault: "down", Pick: fault.Pick{Aim: fault.AtHolder, Draw: uint32(i)}})
		}
		report, err := Run(t.Context(), w, faults.List(), Schedule{steps}, w)
		if err != nil {
			t.Fatal(err)
		}
		if report.Struck != 2 || len(report.Skipped) != 1 || report.Skipped[0].Reason != fault.ErrNobody.Error() {
			t.Errorf("report %+v; want two faults in force, one without a client to hit", report)
		}
	})
}

func TestAFaultWaitsForSomebodyItIsAimedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(fault.Client{Linked: 1}, fault.Client{Linked: 1})
		time.AfterFunc(patience/2, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.clients[1].States = []states.State{states.Holding}
		})
		if _, err := Run(t.Context(), w, faults.List(), Schedule{[]Step{{Fault: "down", Pick: fault.Pick{Aim: fault.AtHolder}}}}, w); err != nil {
			t.Fatal(err)
		}
		if len(w.log) == 0 || !strings.HasSuffix(w.log[0], "[1]") {
			t.Errorf("happened: %v; want client 1 to be hit", w.log)
		}
	})
}

func TestAProcessThatReplacesAnotherDuringAFaultIsOnRecordWhenItStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(fault.Client{Linked: 1, States: []states.State{states.Holding}})
		time.AfterFunc(time.Second, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.clients[0].Process = 10
		})
		if _, err := Run(t.Context(), w, faults.List(), Schedule{[]Step{{For: 2 * time.Second, Fault: "down"}}}, w); err != nil {
			t.Fatal(err)
		}
		w.expect(t, "0s fault-start 1 down [0]", "0s down client 0", "2s heal client 0", "2s fault-stop 1 down [0 10]")
	})
}

func TestTheEndOfTheContextHealsWhatIsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(fault.Client{Linked: 1, States: []states.State{states.Holding}})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := Run(ctx, w, faults.List(), Schedule{[]Step{
			{At: time.Second, For: time.Hour, Fault: "down"},
			{At: time.Minute, For: time.Hour, Fault: "down"},
		}}, w)
		if err != nil {
			t.Error(err)
		}
		w.expect(t, "1s fault-start 1 down [0]", "1s down client 0", "5s heal client 0", "5s fault-stop 1 down [0]")
	})
}

func TestAFaultThatDoesNotHealIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(fault.Client{Linked: 1, States: []states.State{states.Holding}})
		stuck := errors.New("stuck")
		w.clients[0].Links[1].(*fakeLink).heal = stuck
		_, err := Run(t.Context(), w, faults.List(), Schedule{[]Step{{For: time.Second, Fault: "down"}}}, w)
		if !errors.Is(err, stuck) {
			t.Errorf("error %v; want %v", err, stuck)
		}
	})
}

func TestNoPasswordOfASessionIsOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret := []byte("pa55word-16-long")
		w := newWorld(fault.Client{Linked: 1, States: []states.State{states.Holding}, Session: 7, Password: secret})
		rec := &tape{start: time.Now()}
		if _, err := Run(t.Context(), loneWorld{w}, faults.List(), Schedule{[]Step{{Fault: histories.ForcedExpiry}}}, rec); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(rec.events)
		if err != nil || len(rec.events) != 2 {
			t.Fatalf("%d events, error %v", len(rec.events), err)
		}
		for _, form := range []string{string(secret), hex.EncodeToString(secret), base64.StdEncoding.EncodeToString(secret), fmt.Sprint(secret)} {
			if strings.Contains(string(text), form) {
				t.Errorf("on record: %s", text)
			}
		}
	})
}

// loneWorld has an ensemble without servers.
type loneWorld struct{ *fakeWorld }

func (loneWorld) Ensemble() ensemble.Ensemble { return &ensemble.Ext{} }

// oneAnswer names the leader once, and does not answer again.
type oneAnswer struct {
	ensemble.Ensemble
	ensemble.PeerLinks
	asked int
}

func (e *oneAnswer) Leader(ctx context.Context) (int, error) {
	if e.asked++; e.asked == 1 {
		return 1, nil
	}
	<-ctx.Done()
	return 0, ensemble.ErrUnknownLeader
}

type ledWorld struct {
	*fakeWorld
	ensemble *oneAnswer
}

func (w ledWorld) Ensemble() ensemble.Ensemble { return w.ensemble }

func TestAFaultThatTheRunEndsBeforeSaysWhyItFoundNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		w := ledWorld{newWorld(fault.Client{Linked: 1, States: []states.State{states.Holding}}), &oneAnswer{}}
		report, err := Run(ctx, w, faults.List(), Schedule{[]Step{{Fault: "isolate-holder-follower", Pick: fault.Pick{Aim: fault.AtHolder}}}}, w)
		if err != nil {
			t.Fatal(err)
		}
		want := "the run ended: nobody to hit: no client holds a lock through a follower"
		if len(report.Skipped) != 1 || report.Skipped[0].Reason != want {
			t.Errorf("skipped %+v; want %q", report.Skipped, want)
		}
	})
}
