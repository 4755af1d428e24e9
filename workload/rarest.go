package workload

import (
	"math"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
)

// doing is what a client does with a recipe at one moment.
type doing struct {
	state  nemesis.Aim // what a fault aimed at it would be aimed at; AtAnyone when it does nothing
	recipe histories.Recipe
}

// meeting is a fault that begins while a client that it hits does something.
type meeting struct {
	fault string
	doing
}

// doing returns what the client does: with all that it holds or is inside of, and
// with what it asks for or gives back.
func (c *client) doing() (all []doing) {
	for _, r := range c.holding() {
		all = append(all, doing{nemesis.AtHolder, r})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.releasing:
		all = append(all, doing{nemesis.AtReleasing, c.at})
	case c.queuing:
		all = append(all, doing{nemesis.AtEnqueuing, c.at})
	case c.waiting:
		all = append(all, doing{nemesis.AtWaiter, c.at})
	}
	if len(all) == 0 {
		all = append(all, doing{nemesis.AtAnyone, c.at})
	}
	return all
}

// canBe reports whether clients of a recipe are ever in a state.
func canBe(r histories.Recipe, state nemesis.Aim) bool {
	switch r {
	case histories.Barrier: // nobody holds it
		return state == nemesis.AtWaiter || state == nemesis.AtAnyone
	case histories.DoubleBarrier: // there is no queue
		return state != nemesis.AtEnqueuing
	}
	return true
}

// idle is more than a fault ever meets anything.
const idle = math.MaxInt / 2

// Rarest prefers clients whose recipe was met least often by such a fault in their
// state, so that no recipe is missed by the faults because it is held for shorter,
// or by fewer.
func (w world) Rarest(fault string, aim nemesis.Aim, among []nemesis.Client, patient bool) []nemesis.Client {
	// What the clients do, first: they lock themselves before the run.
	now := make([][]doing, len(among))
	for i, c := range among {
		now[i] = w.clients[c.Index].doing()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	any := aim == "" || aim == nemesis.AtAnyone
	// of counts the meetings of a client as it is, of those that the aim is at.
	of := func(all []doing) int {
		least := math.MaxInt
		for _, d := range all {
			if any && d.state == nemesis.AtAnyone {
				least = min(least, idle) // whoever does something goes first
			} else if any || d.state == aim {
				least = min(least, w.met[meeting{fault, d}])
			}
		}
		return least
	}
	least := math.MaxInt
	if patient && !any {
		for _, g := range w.groups {
			if canBe(g.Recipe, aim) {
				least = min(least, w.met[meeting{fault, doing{aim, g.Recipe}}])
			}
		}
	} else {
		for _, all := range now {
			least = min(least, of(all))
		}
	}
	var out []nemesis.Client
	for i, c := range among {
		if of(now[i]) <= least {
			out = append(out, c)
		}
	}
	return out
}
