package workload

import (
	"math"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// doing is what a client does with a recipe at one moment.
type doing struct {
	state  fault.Aim // what a fault aimed at it would be aimed at; AtAnyone when it does nothing
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
		all = append(all, doing{fault.AtHolder, r})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.releasing:
		all = append(all, doing{fault.AtReleasing, c.at})
	case c.queuing:
		all = append(all, doing{fault.AtEnqueuing, c.at})
	case c.waiting:
		all = append(all, doing{fault.AtWaiter, c.at})
	}
	if len(all) == 0 {
		all = append(all, doing{fault.AtAnyone, c.at})
	}
	return all
}

// canBe reports whether clients of a recipe are ever in a state.
func canBe(r histories.Recipe, state fault.Aim) bool {
	switch r {
	case histories.Barrier: // nobody holds it
		return state == fault.AtWaiter || state == fault.AtAnyone
	case histories.DoubleBarrier: // there is no queue
		return state != fault.AtEnqueuing
	}
	return true
}

// striking is a fault in force.
type striking struct {
	fault fault.Fault
	text  string
	seen  map[met]bool
}

// met is what a client does that a fault in force has met.
type met struct {
	client int
	doing
}

// meet counts what the client does now for the faults in force that hit it, each
// thing once for each fault.
func (r *run) meet(c *client) {
	r.mu.Lock()
	none := len(r.active) == 0
	r.mu.Unlock()
	if none {
		return
	}
	now := c.doing()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.active {
		if len(s.fault.Clients) > 0 && !slices.Contains(s.fault.Clients, c.index) {
			continue
		}
		for _, d := range now {
			if m := (met{c.index, d}); !s.seen[m] {
				s.seen[m] = true
				r.met[meeting{s.fault.Name, d}]++
			}
		}
	}
}

// anyFault is the fault of meetings that are counted over all of them, as they
// begin.
const anyFault = ""

// rank orders what a fault may meet, the rarest first: leases of a recipe of which
// none was held as any fault began, and then what was met least often by its kind.
// r is locked.
func (r *run) rank(kind string, d doing) int {
	if d.state == fault.AtHolder && r.met[meeting{anyFault, d}] == 0 {
		return -1
	}
	return r.met[meeting{kind, d}]
}

// count counts what is held as a fault begins.
func (r *run) count(held []histories.Recipe) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, recipe := range held {
		r.met[meeting{anyFault, doing{fault.AtHolder, recipe}}]++
	}
}

// idle is more than a fault ever meets anything.
const idle = math.MaxInt / 2

// busy are the states of clients that do something.
var busy = []fault.Aim{fault.AtHolder, fault.AtWaiter, fault.AtEnqueuing, fault.AtReleasing}

// Rarest prefers clients whose recipe was met least often by such a fault in their
// state, so that no recipe is missed by the faults because it is held for shorter,
// or by fewer; first of all those of a recipe that no fault has found held. Of a
// fault that is aimed at anyone the state is chosen so too.
func (w world) Rarest(kind string, aim fault.Aim, among []fault.Client, patient bool) []fault.Client {
	// What the clients do, first: they lock themselves before the run.
	now := make([][]doing, len(among))
	for i, c := range among {
		now[i] = w.clients[c.Index].doing()
	}
	states := []fault.Aim{aim}
	if aim == "" || aim == fault.AtAnyone {
		states = busy
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// of counts the meetings of a client as it is, of those that the aim is at.
	// Whoever does nothing comes last.
	of := func(all []doing) int {
		least := idle
		for _, d := range all {
			if slices.Contains(states, d.state) {
				least = min(least, w.rank(kind, d))
			}
		}
		return least
	}
	least := math.MaxInt
	if patient {
		for _, g := range w.groups {
			for _, state := range states {
				if canBe(g.Recipe, state) {
					least = min(least, w.rank(kind, doing{state, g.Recipe}))
				}
			}
		}
	} else {
		for _, all := range now {
			least = min(least, of(all))
		}
	}
	var out []fault.Client
	for i, c := range among {
		if of(now[i]) <= least {
			out = append(out, c)
		}
	}
	return out
}

// Ripe has a fault of servers wait for what none of its kind has met.
func (w world) Ripe(kind string) bool {
	now := make([][]doing, len(w.clients))
	for i, c := range w.clients {
		now[i] = c.doing()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	met := true
	for _, g := range w.groups {
		for _, state := range busy {
			met = met && (!canBe(g.Recipe, state) || w.met[meeting{kind, doing{state, g.Recipe}}] > 0)
		}
	}
	return met || slices.ContainsFunc(now, func(all []doing) bool {
		return slices.ContainsFunc(all, func(d doing) bool { return d.state != fault.AtAnyone && w.met[meeting{kind, d}] == 0 })
	})
}
