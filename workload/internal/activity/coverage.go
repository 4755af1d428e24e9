package activity

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// Coverage counts what clients did when faults hit them, so that the next faults hit
// what was hit least.
type Coverage struct {
	recipes []histories.Recipe // of the run
	Held    atomic.Int64       // leases that clients hold now

	mu     sync.Mutex
	active map[int]*activeFault
	counts map[cell]int // how often faults have met it
}

// NewCoverage is that of a run of some recipes, before any fault.
func NewCoverage(recipes []histories.Recipe) *Coverage {
	return &Coverage{recipes: recipes, active: make(map[int]*activeFault), counts: make(map[cell]int)}
}

// cell is a kind of fault, and what a client that it hits does.
type cell struct {
	fault string
	Doing
}

// canBe reports whether clients of a recipe are ever in a state.
func canBe(r histories.Recipe, state fault.Aim) bool {
	switch r {
	case histories.Barrier: // it is not held
		return state == fault.AtWaiter || state == fault.AtAnyone
	case histories.DoubleBarrier: // there is no queue
		return state != fault.AtEnqueuing
	}
	return true
}

// activeFault is a fault in force.
type activeFault struct {
	fault fault.Fault
	text  string
	seen  map[clientDoing]bool
}

// hits reports whether the fault hits a client.
func (f *activeFault) hits(client int) bool {
	return len(f.fault.Clients) == 0 || slices.Contains(f.fault.Clients, client)
}

// clientDoing is what one of the clients does.
type clientDoing struct {
	client int
	Doing
}

// Begin says that a fault is in force from now on.
func (v *Coverage) Begin(id int, f fault.Fault) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.active[id] = &activeFault{fault: f, text: fmt.Sprintf("%s %v", f.Name, f.Targets), seen: make(map[clientDoing]bool)}
}

// End says that a fault is in force no more.
func (v *Coverage) End(id int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.active, id)
}

// InForce describes the faults in force, in the order in which they began.
func (v *Coverage) InForce() (texts []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(v.active)) {
		texts = append(texts, v.active[id].text)
	}
	return texts
}

// HitsNow reports whether a fault in force hits a client.
func (v *Coverage) HitsNow(client int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range v.active {
		if f.hits(client) {
			return true
		}
	}
	return false
}

// Meet counts what the client does now for the faults in force that hit it, each
// thing once for each fault.
func (v *Coverage) Meet(a *Activity) {
	v.mu.Lock()
	none := len(v.active) == 0
	v.mu.Unlock()
	if none {
		return
	}
	now := a.Doing()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range v.active {
		if !f.hits(a.index) {
			continue
		}
		for _, d := range now {
			if m := (clientDoing{a.index, d}); !f.seen[m] {
				f.seen[m] = true
				v.counts[cell{f.fault.Name, d}]++
			}
		}
	}
}

// anyFault is the fault of cells that count all faults, as they begin.
const anyFault = ""

// rank orders what a fault may meet, the rarest first: leases of a recipe of which
// none was held as any fault began, and then what was met least often by its kind.
// v is locked.
func (v *Coverage) rank(kind string, d Doing) int {
	if d.state == fault.AtHolder && v.counts[cell{anyFault, d}] == 0 {
		return -1
	}
	return v.counts[cell{kind, d}]
}

// Count counts what is held as a fault begins.
func (v *Coverage) Count(held []histories.Recipe) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, recipe := range held {
		v.counts[cell{anyFault, Doing{fault.AtHolder, recipe}}]++
	}
}

// idle is more than a fault ever meets anything.
const idle = math.MaxInt / 2

// busy are the states of clients that do something.
var busy = []fault.Aim{fault.AtHolder, fault.AtWaiter, fault.AtEnqueuing, fault.AtReleasing}

// Rarest returns the indexes of those among clients, given by what they do, whose
// recipe was met least often by such a fault in their state, so that no recipe is
// missed by the faults because it is held for shorter, or by fewer; first of all those
// of a recipe that no fault has found held. Of a fault that is aimed at anyone the
// state is chosen so too. If it is patient it returns none as long as what was met
// less often may come.
func (v *Coverage) Rarest(kind string, aim fault.Aim, among [][]Doing, patient bool) (indexes []int) {
	states := []fault.Aim{aim}
	if aim == "" || aim == fault.AtAnyone {
		states = busy
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	// met is how often the rarest cell of a client was met, of those that the aim is at.
	// A client that does nothing comes last.
	met := func(all []Doing) int {
		least := idle
		for _, d := range all {
			if slices.Contains(states, d.state) {
				least = min(least, v.rank(kind, d))
			}
		}
		return least
	}
	least := math.MaxInt
	if patient {
		for _, r := range v.recipes {
			for _, state := range states {
				if canBe(r, state) {
					least = min(least, v.rank(kind, Doing{state, r}))
				}
			}
		}
	} else {
		for _, all := range among {
			least = min(least, met(all))
		}
	}
	for i, all := range among {
		if met(all) <= least {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// Ripe reports whether a fault of servers meets something, given what all clients do,
// that none of its kind has met, or has nothing of the sort to wait for.
func (v *Coverage) Ripe(kind string, now [][]Doing) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	met := true
	for _, r := range v.recipes {
		for _, state := range busy {
			met = met && (!canBe(r, state) || v.counts[cell{kind, Doing{state, r}}] > 0)
		}
	}
	return met || slices.ContainsFunc(now, func(all []Doing) bool {
		return slices.ContainsFunc(all, func(d Doing) bool { return d.state != fault.AtAnyone && v.counts[cell{kind, d}] == 0 })
	})
}
