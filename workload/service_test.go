package workload_test

import (
	"context"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/lock"
)

// real runs a test on real servers, whose logs are read.
func real(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs servers")
	}
	ensembletest.Real(t, "what ZooKeeper logs is joined with the history")
	if ensembletest.Simulated(t) {
		t.Skip("needs real servers")
	}
}

// orders counts the violations of mutual exclusion on record by the order of the servers' log.
func orders(r *checker.Report) map[verdict.Order]int {
	all := make(map[verdict.Order]int)
	for _, w := range r.Verdict(checker.MutualExclusion).Witnesses {
		all[w.Order]++
	}
	return all
}

// Two clients, one lock: the holder is cut off until its session has expired, and holds on.
func TestTheServersSayThatABeliefLastedLongerThanItsSession(t *testing.T) {
	real(t)
	var steps []nemesis.Step
	for i := range 4 {
		steps = append(steps, nemesis.Step{
			At: time.Second + time.Duration(i)*2500*time.Millisecond, For: 2 * time.Second,
			Fault: "expire-silence", Pick: fault.Pick{Aim: fault.AtHolder, Draw: uint32(i + 1)},
		})
	}
	_, report, err := drive(t, t.Context(), workload.Config{
		Target: target(t, "zk-lock"), Seed: 1, Clients: 2, Locks: 1, Duration: 11 * time.Second, SessionTimeout: time.Second,
		Mix:      cycle.Mix{HoldOn: 1, Try: -1, Timeout: -1, Cancel: -1, Crash: -1, Hold: 50 * time.Millisecond},
		Schedule: &nemesis.Schedule{Steps: steps},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := orders(report); got[verdict.InTurn] == 0 || got[verdict.GrantedEarly] > 0 {
		t.Errorf("%v; want beliefs that outlived their nodes alone", got)
	}
}

// earlyTarget is the recipes' mutex with a rule that grants it to each contender at once.
type earlyTarget struct{ lock.Target }

func (earlyTarget) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	c, err := recipes.Connect(ctx, env.Servers, recipes.WithSessionTimeout(env.SessionTimeout), recipes.WithDialer(env.Dial))
	return earlyClient{c, env.Root}, err
}

type earlyClient struct {
	*recipes.Client
	root string
}

func (c earlyClient) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	atOnce := recipes.WithGrantRule(func([]recipes.Place, int) int { return -1 })
	l, err := recipes.NewMutex(c.Client, path.Join(c.root, name), atOnce).Acquire(ctx)
	return earlyLease{l}, err
}

func (c earlyClient) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.Acquire(ctx, name)
}

func (c earlyClient) Crash() { _ = c.Close(context.Background()) }

type earlyLease struct{ *recipes.Lease }

func (l earlyLease) Token() histories.Token { return histories.Token(l.Lease.Token()) }

func TestTheServersSayThatALockWasGrantedTooEarly(t *testing.T) {
	real(t)
	_, report, err := drive(t, t.Context(), workload.Config{
		Target: earlyTarget{target(t, "recipes")}, Seed: 1, Clients: 5, Locks: 1, Duration: 3 * time.Second,
		Mix:      cycle.Mix{Try: -1, Timeout: -1, Cancel: -1, Crash: -1, Hold: time.Millisecond},
		Schedule: &nemesis.Schedule{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := orders(report); got[verdict.GrantedEarly] == 0 || got[verdict.InTurn] > 0 {
		t.Errorf("%v; want grants that were too early alone", got)
	}
	if !violated(report, checker.FirstNode) {
		t.Error("no grant was seen to be too early on the servers")
	}
}

// For every recipe, and also when sessions end, each grant is found in the servers' logs and
// was in turn.
func TestGrantsOfEveryRecipeAreInTheOrderOfTheServers(t *testing.T) {
	ensembletest.EveryNight(t)
	real(t)
	result, report, h, err := record(t, t.Context(), workload.Config{
		Target: target(t, "recipes"), Seed: 1, Recipes: lock.RecipesOf(target(t, "recipes")), Duration: 5 * time.Second, SessionTimeout: time.Second,
		Schedule: &nemesis.Schedule{Steps: []nemesis.Step{
			{At: time.Second, For: 2 * time.Second, Fault: "expire-silence", Pick: fault.Pick{Aim: fault.AtHolder}},
			{At: 2 * time.Second, For: time.Millisecond, Fault: histories.ForcedExpiry, Pick: fault.Pick{Aim: fault.AtHolder}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	v := report.Verdict(checker.FirstNode)
	if unknown, _ := v.Figure("grants whose node is in no server's log"); v.Outcome != verdict.Holds || unknown > 0 {
		t.Errorf("%v; %v are in no log", v, unknown)
	}
	for _, e := range h.Events {
		if e.Type != histories.Expired {
			continue
		}
		i := slices.IndexFunc(result.Service.Sessions, func(s service.Session) bool { return s.ID == e.Session })
		if i < 0 {
			t.Errorf("the observer saw session %s end, and the logs do not have it", e.Session)
		} else if end := result.Service.Sessions[i].Closed; end == nil || end.Time > e.Time+result.Service.Clock {
			t.Errorf("the observer saw session %s end at %v, before the servers ended it: %+v", e.Session, e.Time, end)
		}
	}
}
