package states

import (
	"slices"
	"strconv"

	"github.com/zkverify/zkverify/histories"
)

// Cell is a kind of fault and the state of a process that it meets. The recipe is "" for
// a process that is idle with all recipes as the fault begins.
type Cell struct {
	Fault string
	Doing
}

// Coverage is a tracker that counts which states faults meet. One goroutine at a time
// may use it.
type Coverage struct {
	*Tracker
	Starts map[string]int // how often each kind of fault started
	// Found counts the states in which faults found processes as they began. Each process
	// that a fault hits counts once, or once for each lease if it holds several.
	Found map[Cell]int
	// Met counts the states that faults met while they were in force: the state of each
	// process that they hit at the start, and the states that the process came to. Each
	// combination of fault, process and state counts once.
	Met map[Cell]int
	// Points counts how often servers reached the points of failpoints, by
	// histories.Fault.Failpoint.
	Points  map[string]Reach
	found   map[Doing]int // by faults of all kinds
	recipes []histories.Recipe
	inForce map[int]*meeting
	places  map[histories.Recipe]bool // recipes of which an acquire has reported its place
	last    map[int][]Doing           // the state in which faults in force last met each process
}

// Reach counts how often servers reached a point of their code while failpoints there were
// in force.
type Reach struct {
	Faults, Missed, Times int // Missed: faults during which no server reached the point
}

// meeting is one fault in force, and the states that it has met.
type meeting struct {
	histories.Fault
	seen  map[seen]bool
	found []Doing
}

type seen struct {
	process int
	Doing
}

func (m *meeting) hits(process int) bool {
	return len(m.Processes) == 0 || slices.Contains(m.Processes, process)
}

// NewCoverage returns the coverage of a history with this header and these recipes, before
// its first event.
func NewCoverage(header *histories.Header, recipes []histories.Recipe) *Coverage {
	return &Coverage{
		Tracker: NewTracker(header), Starts: map[string]int{}, Found: map[Cell]int{}, Met: map[Cell]int{}, Points: map[string]Reach{},
		found: map[Doing]int{}, recipes: recipes, inForce: map[int]*meeting{}, places: map[histories.Recipe]bool{}, last: map[int][]Doing{},
	}
}

// Step adds the next event. It keeps no reference to e.
func (c *Coverage) Step(e *histories.Event) {
	switch e.Type {
	case histories.FaultStart:
		m := &meeting{*e.Fault, map[seen]bool{}, nil}
		c.inForce[m.ID] = m
		c.Starts[m.Name]++
		for process := range c.processes {
			if m.hits(process) {
				c.find(m, process)
				c.meet(m, process, c.kinds(process))
			}
		}
		return
	case histories.FaultStop:
		c.reach(e.Fault)
		delete(c.inForce, e.Fault.ID)
		return
	}
	c.Tracker.Step(e)
	p := c.processes[e.Process]
	if p == nil {
		return
	}
	if e.Type == histories.Enqueued && p.operation == Waiting && !c.places[p.recipe] {
		c.places[p.recipe] = true
	}
	if len(c.inForce) == 0 {
		delete(c.last, e.Process)
		return
	}
	now := c.kinds(e.Process)
	if last, known := c.last[e.Process]; known && slices.Equal(last, now) {
		return // faults in force have met this state, at their start or later
	}
	c.last[e.Process] = now
	for _, m := range c.inForce {
		if m.hits(e.Process) {
			c.meet(m, e.Process, now)
		}
	}
}

// find counts the states of a process that a fault finds as it begins.
func (c *Coverage) find(m *meeting, process int) {
	all := c.Doing(process)
	if len(all) == 0 {
		all = []Doing{{"", Idle}}
	}
	for _, d := range all {
		c.Found[Cell{m.Name, d}]++
		c.found[d]++
	}
	m.found = append(m.found, all...)
}

// reach counts how often servers reached the point of a fault that has ended.
func (c *Coverage) reach(f *histories.Fault) {
	times, err := strconv.Atoi(f.Params[histories.Reached])
	if err != nil {
		return // the fault is no failpoint
	}
	r := c.Points[f.Failpoint()]
	r.Faults, r.Times = r.Faults+1, r.Times+times
	if times == 0 {
		r.Missed++
		if m := c.inForce[f.ID]; m != nil {
			c.forget(m)
		}
	}
	c.Points[f.Failpoint()] = r
}

// forget subtracts the states that a fault has found and met, if it never struck.
func (c *Coverage) forget(m *meeting) {
	for _, d := range m.found {
		take(c.Found, Cell{m.Name, d})
		take(c.found, d)
	}
	for s := range m.seen {
		take(c.Met, Cell{m.Name, s.Doing})
	}
}

func take[K comparable](counts map[K]int, k K) {
	if counts[k]--; counts[k] == 0 {
		delete(counts, k)
	}
}

// FoundByAny returns the number of times that faults of any kind found the state d as they began.
func (c *Coverage) FoundByAny(d Doing) int { return c.found[d] }

// meet counts the current states of a process, for a fault in force that hits it.
func (c *Coverage) meet(m *meeting, process int, now []Doing) {
	for _, d := range now {
		c.see(m, seen{process, d})
	}
	for _, r := range c.recipes {
		if !slices.ContainsFunc(now, func(d Doing) bool { return d.Recipe == r }) {
			c.see(m, seen{process, Doing{r, Idle}})
		}
	}
}

func (c *Coverage) see(m *meeting, s seen) {
	if !m.seen[s] {
		m.seen[s] = true
		c.Met[Cell{m.Name, s.Doing}]++
	}
}

// States returns the states in which the processes of this history can be with a recipe.
func (c *Coverage) States(r histories.Recipe) []State { return Of(r, c.places[r]) }

// InForce returns the faults in force, in the order of their ids.
func (c *Coverage) InForce() (all []histories.Fault) {
	for _, m := range c.inForce {
		all = append(all, m.Fault)
	}
	slices.SortFunc(all, func(a, b histories.Fault) int { return a.ID - b.ID })
	return all
}
