package situations

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// Situation is a state that a good night has to reach.
type Situation struct {
	Name string
	Says string // a sentence
	// Recipes are those that can reach it, nil for all.
	Recipes []histories.Recipe
	// Faults are the kinds of fault that bring it about, nil if it needs none.
	Faults []string
	// AtMessages says that it takes an act at a certain message: the plan edges of package
	// simulation reaches it sooner than faults do.
	AtMessages bool
	// Traced says that it shows in the messages of clients and servers, which only runs in
	// virtual time have.
	Traced bool
}

// Of reports whether runs of any of these recipes can reach it.
func (s *Situation) Of(recipes []histories.Recipe) bool {
	return s.Recipes == nil || slices.ContainsFunc(recipes, func(r histories.Recipe) bool { return slices.Contains(s.Recipes, r) })
}

// kind is a situation, and how it is recognized.
type kind struct {
	Situation
	begin func() detector
}

// detector recognizes a situation in a run. Each function reports whether the situation occurs
// with an event, a request or a change; a nil function takes no interest in them.
type detector struct {
	event  func(v *view, e *histories.Event) bool
	call   func(v *view, c *Call) bool
	change func(v *view, c *Change) bool
}

// onEvent returns the begin of a situation that an event shows by itself.
func onEvent(f func(*view, *histories.Event) bool) func() detector {
	return func() detector { return detector{event: f} }
}

// onCall returns the begin of a situation that a request shows by itself.
func onCall(f func(*view, *Call) bool) func() detector {
	return func() detector { return detector{call: f} }
}

func kinds() []kind {
	return slices.Concat(ofFaults(), ofHolds(), ofBarriers(), ofReplies(), ofRaces())
}

// All returns all situations, in the order in which reports list them.
func All() (all []Situation) {
	for _, k := range kinds() {
		all = append(all, k.Situation)
	}
	return all
}

// Counts has the number of occurrences of each situation, by name. A situation that the runs cannot
// show is no key.
type Counts map[string]int

// Add adds the counts of other runs.
func (c *Counts) Add(other Counts) {
	if *c == nil && other != nil {
		*c = Counts{}
	}
	for name, n := range other {
		(*c)[name] += n
	}
}

// Missed returns the situations that never occurred, in the order of All.
func (c Counts) Missed() (missed []Situation) {
	for _, s := range All() {
		if n, can := c[s.Name]; can && n == 0 {
			missed = append(missed, s)
		}
	}
	return missed
}

// Possible returns a count of 0 for each situation that runs of these recipes can show.
func Possible(recipes []histories.Recipe, traced bool) Counts {
	c := Counts{}
	for _, s := range All() {
		if s.Of(recipes) && (traced || !s.Traced) {
			c[s.Name] = 0
		}
	}
	return c
}
