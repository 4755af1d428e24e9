package workload_test

import (
	"fmt"
	"maps"
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

// All recipes are driven in one run, without faults and with faults that a seed decides, and
// each recipe's part of the histories is judged by itself. On a busy machine clients do less:
// then there are more such runs, until each recipe's driver has done its part.
func TestEveryRecipeWorks(t *testing.T) {
	target := target(t, "recipes")
	offers := lock.RecipesOf(target)
	var recorded, calm []*histories.History
	drives := func(t *testing.T, recipes []histories.Recipe, duration time.Duration, faults []string, crash float64) *histories.History {
		r, report, h, err := record(t, t.Context(), workload.Config{
			Target: target, Recipes: recipes, Seed: 7, Duration: duration, SessionTimeout: time.Second,
			Faults: faults, Mix: cycle.Mix{Crash: crash, Reenter: 0.2, Guarded: 0.3},
		})
		if err != nil {
			t.Fatal(err)
		}
		if report.Outcome() == verdict.Violated {
			t.Errorf("violated: %s", report.Reason())
			for _, v := range report.Verdicts {
				for _, w := range v.Witnesses[:min(3, len(v.Witnesses))] {
					t.Log(w.What)
				}
			}
		}
		if len(r.Stuck) > 0 || len(r.Census.Contenders) > 0 || r.Census.Watches > 0 || len(r.Census.Goroutines) > 0 {
			t.Errorf("something is left: stuck %v, census %+v", r.Stuck, r.Census)
		}
		for _, recipe := range recipes {
			wrong := oracles[recipe](h)
			for _, w := range wrong[:min(5, len(wrong))] {
				t.Errorf("%s: %s", recipe, w)
			}
		}
		for _, e := range h.Events {
			for _, p := range e.Parts {
				if e.Type == histories.OK && (e.Op == histories.Acquire || e.Op == histories.TryAcquire) && p.Token == (histories.Token{}) {
					t.Fatalf("process %d holds %s without a token", e.Process, p.Lock)
				}
			}
		}
		recorded = append(recorded, h)
		return h
	}
	without := func(recipes []histories.Recipe) {
		t.Run("without faults", func(t *testing.T) {
			h := drives(t, recipes, 5*time.Second, []string{"none"}, -1)
			calm = append(calm, h)
			guardedWritesSucceed(t, h)
		})
	}
	without(offers)
	t.Run("under faults", func(t *testing.T) { drives(t, offers, 10*time.Second, warned(), 0.01) })
	if t.Failed() || len(recorded) == 0 {
		return // for a reason of its own, or skipped
	}
	undone := func() map[histories.Recipe][]string {
		undone := notGuarded(calm)
		for _, recipe := range offers {
			for _, what := range notDone(recorded, recipe) {
				undone[recipe] = append(undone[recipe], "no client ever "+what)
			}
		}
		return undone
	}
	for more := 0; more < 4 && len(undone()) > 0; more++ {
		t.Logf("these alone, since %q", undone())
		without(slices.Collect(maps.Keys(undone())))
	}
	for recipe, what := range undone() {
		t.Errorf("%s: %s", recipe, what)
	}
}

// guardedWritesSucceed checks that no guarded write fails in a run without faults, except under
// a lease that is lost. The write may be answered before the loss is recorded: the loss is
// recorded before the process acquires again.
func guardedWritesSucceed(t *testing.T, h *histories.History) {
	t.Helper()
	lost := make(map[int]bool) // by process
	failed := make(map[int]histories.Event)
	report := func(process int) {
		if e, ok := failed[process]; ok {
			t.Errorf("%s of %s: %s", e.Op, e.Lock, e.Error)
			delete(failed, process)
		}
	}
	for _, e := range h.Events {
		switch {
		case (e.Op == histories.Acquire || e.Op == histories.TryAcquire) && e.Type == histories.OK && e.Depth == 1:
			report(e.Process)
			lost[e.Process] = false
		case e.Type == histories.Lost:
			lost[e.Process] = true
			delete(failed, e.Process)
		case e.Store == histories.StoreGuarded && e.Type == histories.Fail && !lost[e.Process]:
			failed[e.Process] = e
		}
	}
	for process := range failed {
		report(process)
	}
}

// notGuarded returns the recipes, of those whose holders write to ZooKeeper behind a check of their
// lease, under which none wrote in runs without faults, and others with such writes; the same for
// several locks at once.
func notGuarded(calm []*histories.History) map[histories.Recipe][]string {
	undone := make(map[histories.Recipe][]string)
	written, together := make(map[histories.Recipe]int), 0
	for _, h := range calm {
		several := make(map[int]bool) // whether a process holds several locks
		for _, e := range h.Events {
			switch {
			case (e.Op == histories.Acquire || e.Op == histories.TryAcquire) && e.Type == histories.OK && e.Depth == 1:
				several[e.Process] = e.Parts != nil
			case e.Store == histories.StoreGuarded && e.Type == histories.OK && e.Op == histories.Write:
				written[h.Header.RecipeOf(e.Lock)]++
				if several[e.Process] {
					together++
				}
			}
		}
	}
	if together == 0 {
		undone[histories.MultiLock] = []string{"no guarded write under several locks at once"}
	}
	for _, recipe := range histories.Recipes() {
		if (written[recipe] > 0) != (recipe.Guards() || recipe.HasPermits()) {
			undone[recipe] = append(undone[recipe], fmt.Sprintf("%d guarded writes", written[recipe]))
		}
	}
	return undone
}

// warned returns the faults of links under which no two clients may ever hold locks that
// exclude each other: all but those that give no warning. Those of server processes take longer
// to heal than these runs last.
func warned() (names []string) {
	for _, k := range faults.List() {
		if k.Name != histories.ForcedExpiry && k.Name != histories.NodeDeletion && (k.Needs == fault.NeedsNothing || k.Needs == fault.NeedsPeers) {
			names = append(names, k.Name)
		}
	}
	return names
}

// oracles judge the recipes by rules that the checker does not have.
var oracles = map[histories.Recipe]func(*histories.History) []string{
	histories.Mutex:        none,
	histories.NonReentrant: none,
	histories.MultiLock:    none,
	histories.Handoff:      none,
	histories.Election:     none,
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

// notDone returns the duties of a recipe's driver that it has not carried out.
func notDone(recorded []*histories.History, recipe histories.Recipe) (undone []string) {
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
		if !slices.ContainsFunc(all, is) {
			undone = append(undone, what)
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
			undone = append(undone, "downgraded")
		}
	case histories.MultiLock:
		count("acquired several", func(o operation) bool { return got(o) && len(o.Parts) > 1 })
		count("acquired one", func(o operation) bool { return got(o) && o.Parts == nil && o.Depth == 1 })
		count("re-entered", func(o operation) bool { return got(o) && o.Depth > 1 })
	case histories.Semaphore:
		count("acquired all permits", func(o operation) bool { return got(o) && o.Permits == 3 })
	case histories.SharedSemaphore:
		count("changed the size", func(o operation) bool { return o.ok() && o.Op == histories.SetSize })
	case histories.Revocation:
		count("asked", func(o operation) bool { return o.ok() && o.Op == histories.Revoke })
		if asked == 0 {
			undone = append(undone, "heard that it was asked to release")
		}
	case histories.Election:
		count("saw a leader", func(o operation) bool { return o.ok() && o.Op == histories.Observe && o.Token != (histories.Token{}) })
		count("saw that there is no leader", func(o operation) bool { return o.ok() && o.Op == histories.Observe && o.Token == (histories.Token{}) })
	case histories.Barrier:
		for _, op := range []histories.Op{histories.Set, histories.Remove, histories.Wait} {
			count("came back from "+string(op), func(o operation) bool { return o.ok() && o.Op == op })
		}
	case histories.DoubleBarrier:
		for _, op := range []histories.Op{histories.Enter, histories.Leave} {
			count("came back from "+string(op), func(o operation) bool { return o.ok() && o.Op == op })
		}
	}
	return undone
}

// downgraded counts the readers that have been granted the lock while they wrote.
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
