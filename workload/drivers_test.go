package workload_test

import (
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/lock"
)

// All recipes are driven in one run, without faults and with faults that a seed
// decides, and each recipe's part of the histories is judged by itself.
func TestEveryRecipeWorks(t *testing.T) {
	target := target(t, "recipes")
	offers := lock.RecipesOf(target)
	var recorded []*histories.History
	for _, c := range []struct {
		name     string
		duration time.Duration
		faults   []string
		crash    float64
	}{
		{"without faults", 5 * time.Second, []string{"none"}, -1},
		{"under faults", 10 * time.Second, warned(), 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, report, h, err := record(t, t.Context(), workload.Config{
				Target: target, Recipes: offers, Seed: 7, Duration: c.duration, SessionTimeout: time.Second,
				Faults: c.faults, Mix: cycle.Mix{Crash: c.crash, Reenter: 0.2, Guarded: 0.3},
			})
			if err != nil {
				t.Fatal(err)
			}
			if report.Outcome() == verdict.Violated {
				t.Errorf("violated: %s", report.Reason())
			}
			if len(r.Stuck) > 0 || len(r.Census.Contenders) > 0 || r.Census.Watches > 0 || len(r.Census.Goroutines) > 0 {
				t.Errorf("something is left: stuck %v, census %+v", r.Stuck, r.Census)
			}
			for _, recipe := range offers {
				wrong := oracles[recipe](h)
				for _, w := range wrong[:min(5, len(wrong))] {
					t.Errorf("%s: %s", recipe, w)
				}
			}
			recorded = append(recorded, h)
		})
	}
	if len(recorded) == 0 {
		return // skipped, or failed for a reason of its own
	}
	for _, recipe := range offers {
		t.Run(string(recipe), func(t *testing.T) { exercised(t, recorded, recipe) })
	}
	t.Run("guarded writes", func(t *testing.T) { guarded(t, recorded[0]) })
}

// guarded checks that in a run without faults a counter in ZooKeeper is written
// under each recipe that guards one, and under several locks at once, and that no
// such write fails, but of a lease that is lost.
func guarded(t *testing.T, h *histories.History) {
	written := make(map[histories.Recipe]int)
	lost := make(map[int]bool)               // by process
	holds, together := make(map[int]bool), 0 // of several locks, by process
	for _, e := range h.Events {
		switch {
		case (e.Op == histories.Acquire || e.Op == histories.TryAcquire) && e.Type == histories.OK && e.Depth == 1:
			holds[e.Process], lost[e.Process] = e.Parts != nil, false
		case e.Type == histories.Lost:
			lost[e.Process] = true
		case e.Store != histories.StoreGuarded:
		case e.Type == histories.Fail && !lost[e.Process]:
			t.Errorf("%s of %s: %s", e.Op, e.Lock, e.Error)
		case e.Type == histories.OK && e.Op == histories.Write:
			written[h.Header.RecipeOf(e.Lock)]++
			if holds[e.Process] {
				together++
			}
		}
	}
	if together == 0 {
		t.Error("no guarded write under several locks at once")
	}
	for _, recipe := range histories.Recipes() {
		if (written[recipe] > 0) != recipe.Guards() {
			t.Errorf("%d guarded writes under %s", written[recipe], recipe)
		}
	}
}

// warned returns the faults of links under which no two may ever hold what
// excludes: all but those that give no warning. Those of server processes take
// longer to heal than these runs last.
func warned() (names []string) {
	for _, k := range faults.List() {
		if k.Name != histories.ForcedExpiry && k.Name != histories.NodeDeletion && (k.Needs == fault.NeedsNothing || k.Needs == fault.NeedsPeers) {
			names = append(names, k.Name)
		}
	}
	return names
}

// oracles judge what the checker does not: the others are its.
var oracles = map[histories.Recipe]func(*histories.History) []string{
	histories.Mutex:        none,
	histories.NonReentrant: none,
	histories.MultiLock:    none,
	histories.Handoff:      none,
	histories.ReadWrite:    readersAndWriters,
	histories.Semaphore: func(h *histories.History) []string {
		return permits(h, histories.Semaphore)
	},
	histories.SharedSemaphore: func(h *histories.History) []string {
		return permits(h, histories.SharedSemaphore)
	},
	histories.Revocation:    requests,
	histories.Barrier:       passes,
	histories.DoubleBarrier: rounds,
}

func none(*histories.History) []string { return nil }

// exercised fails the test when the driver did not do all that it is there for.
func exercised(t *testing.T, recorded []*histories.History, recipe histories.Recipe) {
	t.Helper()
	var all []operation
	downgrades, asked := 0, 0
	for _, h := range recorded {
		all = append(all, operations(h, recipe)...)
		downgrades += downgraded(h)
		for _, e := range h.Events {
			if e.Type == histories.RevokeRequested {
				asked++
			}
		}
	}
	count := func(what string, is func(operation) bool) {
		t.Helper()
		n := 0
		for _, o := range all {
			if is(o) {
				n++
			}
		}
		t.Logf("%d %s", n, what)
		if n == 0 {
			t.Errorf("nobody ever %s", what)
		}
	}
	got := func(o operation) bool { return o.ok() && (o.Op == histories.Acquire || o.Op == histories.TryAcquire) }
	if recipe.IsLock() {
		count("acquired", got)
		count("failed to", func(o operation) bool { return o.Type == histories.Fail && o.Op != histories.Write })
		count("released", func(o operation) bool { return o.ok() && o.Op == histories.Release && o.Depth == 1 })
	}
	switch recipe {
	case histories.Mutex:
		count("re-entered", func(o operation) bool { return got(o) && o.Depth > 1 })
	case histories.ReadWrite:
		for _, mode := range []histories.Mode{histories.ModeRead, histories.ModeWrite} {
			count("acquired to "+string(mode), func(o operation) bool { return got(o) && o.Mode == mode })
		}
		count("re-entered", func(o operation) bool { return got(o) && o.Depth > 1 })
		if downgrades == 0 {
			t.Error("nobody ever downgraded")
		}
	case histories.MultiLock:
		count("acquired several", func(o operation) bool { return got(o) && len(o.Parts) > 1 })
		count("acquired one", func(o operation) bool { return got(o) && o.Parts == nil && o.Depth == 1 })
		count("re-entered", func(o operation) bool { return got(o) && o.Depth > 1 })
		for _, o := range all {
			for _, p := range o.Parts {
				if got(o) && p.Token == (histories.Token{}) {
					t.Fatalf("process %d holds %s without a token", o.Process, p.Lock)
				}
			}
		}
	case histories.Semaphore:
		count("acquired all permits", func(o operation) bool { return got(o) && o.Permits == 3 })
	case histories.SharedSemaphore:
		count("changed the size", func(o operation) bool { return o.ok() && o.Op == histories.SetSize })
	case histories.Revocation:
		count("asked", func(o operation) bool { return o.ok() && o.Op == histories.Revoke })
		if asked == 0 {
			t.Error("nobody ever heard that it was asked to release")
		}
	case histories.Barrier:
		for _, op := range []histories.Op{histories.Set, histories.Remove, histories.Wait} {
			count("came back from "+string(op), func(o operation) bool { return o.ok() && o.Op == op })
		}
	case histories.DoubleBarrier:
		for _, op := range []histories.Op{histories.Enter, histories.Leave} {
			count("came back from "+string(op), func(o operation) bool { return o.ok() && o.Op == op })
		}
	}
}

// downgraded counts the readers that have been granted while they wrote.
func downgraded(h *histories.History) int {
	n, all := 0, holds(h, histories.ReadWrite)
	for _, x := range all {
		if x.Mode == histories.ModeRead && slices.ContainsFunc(all, func(w hold) bool {
			return w.Mode == histories.ModeWrite && w.Process == x.Process && w.from < x.call && x.from < w.to
		}) {
			n++
		}
	}
	return n
}
