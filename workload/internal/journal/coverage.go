package journal

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// Coverage tracks what the processes of a run do, as events go on record, and the activities
// that faults have met, so that the next faults hit the activities that were hit least.
type Coverage struct {
	recipes []histories.Recipe // of the run

	mu       sync.Mutex // guards the fields below: recording writes them, faults read them
	run      *states.Coverage
	recorded int
	aimedAt  map[states.State][]states.Doing // see cells
}

// NewCoverage returns the coverage of a run of some recipes with these locks, before any event.
func NewCoverage(recipes []histories.Recipe, locks map[string]histories.Lock) *Coverage {
	return &Coverage{
		recipes: recipes, run: states.NewCoverage(&histories.Header{Locks: locks}, recipes), aimedAt: map[states.State][]states.Doing{},
	}
}

// Step applies an event that is on record.
func (v *Coverage) Step(e *histories.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run.Step(e)
	v.recorded++
}

// Recorded returns the number of events on record.
func (v *Coverage) Recorded() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.recorded
}

// doing returns the activities of a process.
func (v *Coverage) doing(process int) []states.Doing {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.run.Doing(process)
}

// places returns the locks in whose queues a process waits, and the process's tokens there.
func (v *Coverage) places(process int) []histories.Part {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.run.Places(process)
}

// Held returns the number of leases held now, and the number of leases that were held as a
// fault that hit their holder began.
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

// HitsNow reports whether a fault in force hits a client, one of so many: its current process
// or an earlier one, which may have had the same links.
func (v *Coverage) HitsNow(client, clients int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(v.run.InForce(), func(f histories.Fault) bool {
		return len(f.Processes) == 0 || slices.ContainsFunc(f.Processes, func(p int) bool { return p%clients == client })
	})
}

// met returns the number of times that a kind of fault has met an activity.
func (v *Coverage) met(kind string, d states.Doing) int {
	return v.run.Met[states.Cell{Fault: kind, Doing: d}]
}

// rank orders the activities that a fault may meet, the rarest first: leases of a recipe of
// which none was held as any fault began, and then the activities that its kind has met least
// often. v is locked.
func (v *Coverage) rank(kind string, d states.Doing) int {
	if d.State == states.Holding && v.run.FoundByAny(d) == 0 {
		return -1
	}
	return v.met(kind, d)
}

// idle is larger than the number of times that a fault ever meets an activity.
const idle = math.MaxInt / 2

// cells returns the activities of processes that a fault is aimed at: all of them, except
// inactivity, for a fault that is aimed at anyone. v is locked.
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

// Rarest returns the indexes of those processes in among whose recipe such a fault has met
// least often in their state, so that faults do not miss a recipe because it is held for a
// shorter time, or by fewer clients. The processes of a recipe that no fault has found held
// come first. For a fault that is aimed at anyone the state is chosen so too. If the fault is
// patient, Rarest returns none while an activity that was met less often may come.
func (v *Coverage) Rarest(kind string, aim fault.Aim, among []int, patient bool) (indexes []int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	cells, least := v.cells(aim), math.MaxInt
	// A process whose activity the fault is not aimed at comes last.
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

// Ripe reports whether a fault of servers of this kind should strike now: it meets an activity
// that none of its kind has met, or there is no such activity to wait for.
func (v *Coverage) Ripe(kind string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	unmet := func(d states.Doing) bool { return v.met(kind, d) == 0 }
	return !slices.ContainsFunc(v.cells(fault.AtAnyone), unmet) || slices.ContainsFunc(v.run.Everything(), unmet)
}
