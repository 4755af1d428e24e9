package checker

import (
	"slices"
	"strings"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
)

// State is the step of its work with a lock that a process is in.
type State = states.State

// The states in which a fault can meet a process.
const (
	Idle      = states.Idle
	Enqueuing = states.Enqueuing
	Waiting   = states.Waiting
	Holding   = states.Holding
	Releasing = states.Releasing
)

// States returns all states in the order of a lock's life.
func States() []State { return states.All() }

// Coverage counts, for each fault, how often its start met a process that it hit in each state.
// Every row has every state as a key, so that a state that was never met shows as 0.
type Coverage []CoverageRow

// CoverageRow holds the counts of one kind of fault.
type CoverageRow struct {
	Fault  string        `json:"fault"`
	Starts int           `json:"starts"`
	Met    map[State]int `json:"met"`
}

// Missed counts the states that no fault of this kind ever met.
func (r *CoverageRow) Missed() int {
	n := 0
	for _, s := range States() {
		if r.Met[s] == 0 {
			n++
		}
	}
	return n
}

// RecipeUse holds counts of the use of one recipe.
type RecipeUse struct {
	Recipe     histories.Recipe `json:"recipe"`
	Locks      int              `json:"locks"`
	Operations int              `json:"operations"`
	Got        int              `json:"got"`     // times that a lock was acquired, or a barrier passed
	Held       int              `json:"held"`    // leases whose holder a fault hit as it began
	Awaited    int              `json:"awaited"` // acquires, and waits at a barrier, whose process a fault hit as it began
}

// shownNothing returns the reason why the run as a whole shows nothing about the target under
// faults, or about one of the recipes under test, or "". A lock of another recipe is only acquired
// together with those of a multi-lock.
func shownNothing(t *facts.Trace, uses []RecipeUse) string {
	if len(t.Faults.All) == 0 {
		if f := t.Header.Options["faults"]; f != "" && f != "none" {
			return "faults were asked for, but none started"
		}
		return ""
	}
	var missed []string
	locks := 0
	tested := strings.Split(t.Header.Recipe, ",")
	named := func(u RecipeUse) bool { return slices.Contains(tested, string(u.Recipe)) }
	all := !slices.ContainsFunc(uses, named)
	for _, u := range uses {
		if !u.Recipe.IsLock() || !all && !named(u) {
			continue
		}
		locks++
		if u.Held == 0 {
			missed = append(missed, string(u.Recipe))
		}
	}
	switch {
	case locks == 0: // barriers alone: they have no holders
		return ""
	case len(missed) == locks:
		return "inconclusive: no lease was held when a fault started"
	case len(missed) > 0:
		return "inconclusive: no lease of " + strings.Join(missed, ", ") + " was held when a fault started"
	}
	return ""
}
