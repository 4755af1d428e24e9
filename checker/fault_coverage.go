package checker

import (
	"maps"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// Meetings is how often one kind of fault has met the locks of one recipe in each
// state: while it was in force, a process that it hit was in that state, or came
// to be. Each fault, process and state counts once. States in which no process of
// the recipe can be are no keys; what was never met is 0.
type Meetings struct {
	Fault  string           `json:"fault"`
	Recipe histories.Recipe `json:"recipe"`
	Met    map[State]int    `json:"met"`
}

// Unmet returns the states that no such fault has met.
func (m *Meetings) Unmet() []State {
	return slices.DeleteFunc(States(), func(s State) bool { n, can := m.Met[s]; return !can || n > 0 })
}

// Unmet is a cell of the coverage that is empty.
type Unmet struct {
	Fault  string
	Recipe histories.Recipe
	State  State
}

// statesOf returns the states in which processes can be with a recipe, none of
// them met. Where nobody tells a place in a queue, who waits cannot be told from
// who enqueues.
func statesOf(r histories.Recipe, places bool) map[State]int {
	switch {
	case r == histories.Barrier: // nobody holds it
		return map[State]int{Idle: 0, Waiting: 0}
	case r == histories.DoubleBarrier: // who is inside holds it
		return map[State]int{Idle: 0, Waiting: 0, Holding: 0, Releasing: 0}
	case !places:
		return map[State]int{Idle: 0, Enqueuing: 0, Holding: 0, Releasing: 0}
	}
	return map[State]int{Idle: 0, Enqueuing: 0, Waiting: 0, Holding: 0, Releasing: 0}
}

// meetings counts them while a history goes by. It follows what processes do by
// itself, in memory that grows with what is open.
type meetings struct {
	header  *histories.Header
	recipes []histories.Recipe
	doing   map[int]*doing // by process
	active  map[int]*meeting
	met     map[string]map[histories.Recipe]map[State]int
	places  map[histories.Recipe]bool // somebody has told a place
}

// doing is what a process does.
type doing struct {
	held   []string         // locks, the first of several standing for all
	lock   string           // of the last operation
	recipe histories.Recipe // of the same
	state  State            // what that makes of the process; "" when there is none
}

// meeting is one fault in force.
type meeting struct {
	*histories.Fault
	seen map[seen]bool
}

type seen struct {
	process int
	recipe  histories.Recipe
	state   State
}

func newMeetings(header *histories.Header, recipes []histories.Recipe) *meetings {
	return &meetings{
		header: header, recipes: recipes, doing: map[int]*doing{}, active: map[int]*meeting{},
		met: map[string]map[histories.Recipe]map[State]int{}, places: map[histories.Recipe]bool{},
	}
}

// step takes the next event in. It keeps no reference to e.
func (m *meetings) step(e *histories.Event) {
	switch e.Type {
	case histories.FaultStart:
		f := *e.Fault
		m.active[f.ID] = &meeting{&f, map[seen]bool{}}
		if m.met[f.Name] == nil {
			m.met[f.Name] = map[histories.Recipe]map[State]int{}
		}
		for p, d := range m.doing {
			m.meet(p, d)
		}
		return
	case histories.FaultStop:
		delete(m.active, e.Fault.ID)
		return
	case histories.Crash:
		delete(m.doing, e.Process)
		return
	}
	if e.Process < 0 {
		return
	}
	d := m.doing[e.Process]
	if d == nil {
		d = &doing{}
		m.doing[e.Process] = d
	}
	if m.change(d, e) {
		m.meet(e.Process, d)
	}
	if e.Type == histories.Info {
		delete(m.doing, e.Process) // it is not used again
	}
}

// change follows what a process does. It reports whether that is something else
// now.
func (m *meetings) change(d *doing, e *histories.Event) bool {
	lock := e.Lock
	if len(e.Parts) > 0 {
		lock = e.Parts[0].Lock
	}
	acquires := e.Op == histories.Acquire || e.Op == histories.TryAcquire
	switch e.Type {
	case histories.Invoke:
		if lock != d.lock || d.recipe == "" {
			d.lock, d.recipe = lock, m.header.RecipeOf(lock)
		}
		d.state = ""
		switch {
		case acquires && !slices.Contains(d.held, lock):
			d.state = Enqueuing
		case e.Op == histories.Wait, e.Op == histories.Enter:
			d.state = Waiting
		case e.Op == histories.Leave, e.Op == histories.Release && e.Depth <= 1:
			d.state = Releasing
			d.drop(lock)
		}
		return d.state != ""
	case histories.Enqueued:
		if d.state != Enqueuing {
			return false
		}
		m.places[d.recipe] = true
		d.state = Waiting
		return true
	case histories.Lost:
		d.drop(lock)
		return true
	case histories.OK, histories.Fail, histories.Info:
		was := d.state
		d.state = ""
		if e.Type == histories.OK && (acquires || e.Op == histories.Enter) {
			if !slices.Contains(d.held, lock) {
				d.held = append(d.held, lock)
			}
		}
		return was != ""
	}
	return false
}

func (d *doing) drop(lock string) {
	d.held = slices.DeleteFunc(d.held, func(l string) bool { return l == lock })
}

// meet counts what a process does for the faults that are in force.
func (m *meetings) meet(process int, d *doing) {
	for _, f := range m.active {
		if len(f.Processes) > 0 && !slices.Contains(f.Processes, process) {
			continue
		}
		busy := map[histories.Recipe]bool{}
		see := func(r histories.Recipe, s State) {
			busy[r] = true
			k := seen{process, r, s}
			if f.seen[k] {
				return
			}
			f.seen[k] = true
			if m.met[f.Name][r] == nil {
				m.met[f.Name][r] = map[State]int{}
			}
			m.met[f.Name][r][s]++
		}
		for _, lock := range d.held {
			see(m.header.RecipeOf(lock), Holding)
		}
		if d.state != "" {
			see(d.recipe, d.state)
		}
		for _, r := range m.recipes {
			if !busy[r] {
				see(r, Idle)
			}
		}
	}
}

// rows returns what was counted, by fault and recipe.
func (m *meetings) rows() (out []Meetings) {
	for _, fault := range slices.Sorted(maps.Keys(m.met)) {
		for _, r := range m.recipes {
			met := statesOf(r, m.places[r])
			for s := range met {
				met[s] = m.met[fault][r][s]
			}
			out = append(out, Meetings{fault, r, met})
		}
	}
	return out
}
