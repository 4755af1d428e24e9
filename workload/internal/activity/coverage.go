package activity

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// Coverage knows what the processes of a run do, as events go on record, and what
// faults have met, so that the next faults hit what was hit least.
type Coverage struct {
	recipes []histories.Recipe // of the run

	mu       sync.Mutex // guards what follows: all goroutines that record feed it, and those of faults read it
	run      *states.Coverage
	recorded int
	aimedAt  map[states.State][]states.Doing // see cells
}

// NewCoverage is that of a run of some recipes with these locks, before any event.
func NewCoverage(recipes []histories.Recipe, locks map[string]histories.Lock) *Coverage {
	return &Coverage{
		recipes: recipes, run: states.NewCoverage(&histories.Header{Locks: locks}, recipes), aimedAt: map[states.State][]states.Doing{},
	}
}

// Step takes in an event that is on record.
func (v *Coverage) Step(e *histories.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run.Step(e)
	v.recorded++
}

// Recorded is how many events there are.
func (v *Coverage) Recorded() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.recorded
}

// doing returns what a process does.
func (v *Coverage) doing(process int) []states.Doing {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.run.Doing(process)
}

// place returns the lock in whose queue a process waits, and its token there.
func (v *Coverage) place(process int) histories.Part {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.run.Place(process)
}

// Held returns how many leases are held now, and how many were held as a fault began
// that hit their holder.
func (v *Coverage) Held() (now, across int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, d := range v.run.Everything() {
		if d.State == states.Holding && d.Recipe.IsLock() {
			now++
		}
	}
	for _, r := range v.recipes {
		if r.IsLock() {
			across += int64(v.run.FoundByAny(states.Doing{Recipe: r, State: states.Holding}))
		}
	}
	return now, across
}

// InForce describes the faults in force, in the order in which they began.
func (v *Coverage) InForce() (texts []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range v.run.InForce() {
		texts = append(texts, fmt.Sprintf("%s %v", f.Name, f.Targets))
	}
	return texts
}

// HitsNow reports whether a fault in force hits a client, one of so many: this process
// of it or an earlier one, for it may keep the links.
func (v *Coverage) HitsNow(client, clients int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(v.run.InForce(), func(f histories.Fault) bool {
		return len(f.Processes) == 0 || slices.ContainsFunc(f.Processes, func(p int) bool { return p%clients == client })
	})
}

// met is how often a kind of fault has met that.
func (v *Coverage) met(kind string, d states.Doing) int {
	return v.run.Met[states.Cell{Fault: kind, Doing: d}]
}

// rank orders what a fault may meet, the rarest first: leases of a recipe of which
// none was held as any fault began, and then what was met least often by its kind.
// v is locked.
func (v *Coverage) rank(kind string, d states.Doing) int {
	if d.State == states.Holding && v.run.FoundByAny(d) == 0 {
		return -1
	}
	return v.met(kind, d)
}

// idle is more than a fault ever meets anything.
const idle = math.MaxInt / 2

// cells returns what processes may do of what a fault is aimed at: all but nothing of
// one that is aimed at anyone. v is locked.
func (v *Coverage) cells(aim fault.Aim) []states.Doing {
	all, known := v.aimedAt[aim.State()]
	if known {
		return all
	}
	for _, r := range v.recipes {
		for _, s := range states.Of(r, true) {
			if s != states.Idle && (s == aim.State() || aim.State() == states.Idle) {
				all = append(all, states.Doing{Recipe: r, State: s})
			}
		}
	}
	v.aimedAt[aim.State()] = all
	return all
}

// Rarest returns the indexes of those among processes whose recipe was met least often
// by such a fault in their state, so that no recipe is missed by the faults because it
// is held for shorter, or by fewer; first of all those of a recipe that no fault has
// found held. Of a fault that is aimed at anyone the state is chosen so too. If it is
// patient it returns none as long as what was met less often may come.
func (v *Coverage) Rarest(kind string, aim fault.Aim, among []int, patient bool) (indexes []int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	cells, least := v.cells(aim), math.MaxInt
	// A process that does nothing that the aim is at comes last.
	met := make([]int, len(among))
	for i, process := range among {
		met[i] = idle
		for _, d := range v.run.Doing(process) {
			if slices.Contains(cells, d) {
				met[i] = min(met[i], v.rank(kind, d))
			}
		}
		if !patient {
			least = min(least, met[i])
		}
	}
	if patient {
		for _, d := range cells {
			least = min(least, v.rank(kind, d))
		}
	}
	for i := range among {
		if met[i] <= least {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// Ripe reports whether a fault of servers meets something now that none of its kind has
// met, or has nothing of the sort to wait for.
func (v *Coverage) Ripe(kind string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	unmet := func(d states.Doing) bool { return v.met(kind, d) == 0 }
	return !slices.ContainsFunc(v.cells(fault.AtAnyone), unmet) || slices.ContainsFunc(v.run.Everything(), unmet)
}
