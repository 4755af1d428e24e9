package checker

import (
	"maps"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
)

// tally counts while the history is read: the figures of the run, and the uses of each recipe.
type tally struct {
	facts.Deaf
	t            *facts.Trace
	coverage     *states.Coverage
	operations   int
	unanswered   int
	expiredInUse int             // sessions that ended while their process held or waited
	using        map[string]*int // by session: its holds, and the places of acquires that are under way
	kept         int             // the number of sessions in it after the last removal of those not in use
	lost         map[string]bool // sessions in which a lease was lost
	counted      map[string]bool // sessions in expiredInUse
}

func newTally(t *facts.Trace, coverage *states.Coverage) *tally {
	return &tally{t: t, coverage: coverage, using: map[string]*int{}, lost: map[string]bool{}, counted: map[string]bool{}}
}

func (c *tally) Event(_ int, e *histories.Event) {
	switch e.Type {
	case histories.Crash:
		for _, o := range c.t.Process(e.Process).Open {
			c.left(o)
		}
		return
	case histories.Expired:
	default:
		return
	}
	if _, seen := c.t.Sessions.Expired[e.Session]; !seen {
		c.expired(e.Session)
	}
}

// Invoked counts an operation, and Completed one that was answered. An operation over several
// locks is counted by its first part.
func (c *tally) Invoked(o *facts.Op) {
	if o.Part == 0 {
		c.operations++
		c.unanswered++
	}
}

func (c *tally) Completed(o *facts.Op) {
	if o.Part == 0 && o.Result != histories.Info {
		c.unanswered--
	}
	c.left(o)
}

// Placed and left count the places of acquires that are under way.
func (c *tally) Placed(o *facts.Op) { c.uses(o.Places[len(o.Places)-1].Session, 1) }

func (c *tally) left(o *facts.Op) {
	for _, p := range o.Places {
		c.uses(p.Session, -1)
	}
}

func (c *tally) uses(session string, n int) {
	use := c.using[session]
	if use == nil {
		if len(c.using) > 2*c.kept+256 {
			maps.DeleteFunc(c.using, func(_ string, use *int) bool { return *use == 0 })
			c.kept = len(c.using)
		}
		use = new(int)
		c.using[session] = use
	}
	*use += n
}

func (c *tally) inUse(session string) bool {
	use := c.using[session]
	return use != nil && *use > 0
}

// Began counts the holds of a session.
func (c *tally) Began(h *facts.Hold) { c.uses(h.Session, 1) }

// Ended counts a session that ends together with a hold.
func (c *tally) Ended(h *facts.Hold) {
	c.uses(h.Session, -1)
	if h.Why == facts.ByLoss && h.Session != "" {
		// The client was told before the session was seen to end.
		c.lost[h.Session] = true
		if at, ok := c.t.Sessions.Expired[h.Session]; ok && at >= h.Start && !c.counted[h.Session] {
			c.counted[h.Session] = true
			c.expiredInUse++
		}
	}
}

// expired counts a session that was seen to have ended, if it was in use.
func (c *tally) expired(session string) {
	if session == "" || c.counted[session] || !c.lost[session] && !c.inUse(session) {
		return
	}
	c.counted[session] = true
	c.expiredInUse++
}

// recipes returns the uses of each recipe of the run.
func (c *tally) recipes() []RecipeUse {
	var out []RecipeUse
	for _, r := range c.t.Recipes() {
		use := RecipeUse{Recipe: r, Awaited: c.found(r, Enqueuing) + c.found(r, Waiting)}
		if r.IsLock() {
			use.Held = c.found(r, Holding)
		}
		for info := range c.t.LocksThat(facts.Is(r)) {
			use.Locks++
			use.Operations += info.Operations
			use.Got += info.Got
		}
		out = append(out, use)
	}
	return out
}

func (c *tally) found(r histories.Recipe, s State) int {
	return c.coverage.FoundByAny(states.Doing{Recipe: r, State: s})
}

// figures returns the figures of the run as a whole.
func (c *tally) figures(uses []RecipeUse) []verdict.Figure {
	heldAcross := 0
	for _, u := range uses {
		heldAcross += u.Held
	}
	return []verdict.Figure{
		{Name: "operations", Value: float64(c.operations), Unit: ""},
		{Name: "operations without an answer", Value: float64(c.unanswered), Unit: ""},
		{Name: "faults", Value: float64(len(c.t.Faults.All)), Unit: ""},
		{Name: "leases held across a fault's start", Value: float64(heldAcross), Unit: ""},
		{Name: "sessions expired while holding or waiting", Value: float64(c.expiredInUse), Unit: ""},
	}
}

// paceFigures returns the figures of the operations answered in each second without a fault, if
// there was such a second.
func paceFigures(counts []int) []verdict.Figure {
	if len(counts) == 0 {
		return nil
	}
	counts = slices.Sorted(slices.Values(counts))
	return []verdict.Figure{
		{Name: "seconds without a fault in force", Value: float64(len(counts)), Unit: ""},
		{Name: "operations answered in such a second, least", Value: float64(counts[0]), Unit: ""},
		{Name: "operations answered in such a second, median", Value: float64(counts[len(counts)/2]), Unit: ""},
	}
}
