package checker

import (
	"maps"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// tally counts what happens while it happens: the figures of the run, what each
// fault met when it began, and how much each recipe was used.
type tally struct {
	facts.Deaf
	t            *facts.Trace
	operations   int
	unanswered   int
	heldAcross   int // leases held when a fault began that hit their holder
	expiredInUse int // sessions that ended while their process held or waited
	rows         map[string]*CoverageRow
	held         map[histories.Recipe]int // leases held when a fault began that hit their holder
	awaited      map[histories.Recipe]int // what was under way then
	lost         map[string]bool          // sessions in which a lease was lost
	counted      map[string]bool          // sessions in expiredInUse
}

func newTally(t *facts.Trace) *tally {
	return &tally{
		t: t, rows: map[string]*CoverageRow{}, held: map[histories.Recipe]int{}, awaited: map[histories.Recipe]int{},
		lost: map[string]bool{}, counted: map[string]bool{},
	}
}

func (c *tally) Event(_ int, e *histories.Event) {
	switch e.Type {
	case histories.Expired:
		if _, seen := c.t.Sessions.Expired[e.Session]; !seen {
			c.expired(e.Session)
		}
	case histories.FaultStart:
		c.struck(e.Fault)
	}
}

// Invoked counts an operation, and completed one that was answered. The first part
// stands for all.
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
}

// Ended counts sessions that a hold ends with.
func (c *tally) Ended(h *facts.Hold) {
	if h.Why == facts.ByLoss && h.Session != "" {
		// It was told ahead of time.
		c.lost[h.Session] = true
		if at, ok := c.t.Sessions.Expired[h.Session]; ok && at >= h.Start && !c.counted[h.Session] {
			c.counted[h.Session] = true
			c.expiredInUse++
		}
	}
}

// expired counts a session that was seen to have ended, if it was in use.
func (c *tally) expired(session string) {
	if session == "" || c.counted[session] || !c.inUse(session) {
		return
	}
	c.counted[session] = true
	c.expiredInUse++
}

func (c *tally) inUse(session string) bool {
	if c.lost[session] {
		return true
	}
	for _, p := range c.t.Processes {
		for _, h := range p.Holds {
			if h.Session == session {
				return true
			}
		}
	}
	for _, p := range c.t.Processes {
		for _, o := range p.Open {
			for _, p := range o.Places {
				if p.Session == session {
					return true
				}
			}
		}
	}
	return false
}

// struck counts what a fault that begins meets. A process that holds one lock and
// waits for another counts in both states.
func (c *tally) struck(f *histories.Fault) {
	row := c.rows[f.Name]
	if row == nil {
		row = &CoverageRow{Fault: f.Name, Met: map[State]int{}}
		for _, s := range States() {
			row.Met[s] = 0
		}
		c.rows[f.Name] = row
	}
	row.Starts++
	busy := map[int]bool{}
	see := func(process int, s State) {
		row.Met[s]++
		busy[process] = true
	}
	for _, p := range c.t.Processes {
		if !facts.Hits(f, p.Number) {
			continue
		}
		for _, h := range p.Holds {
			if h.Acquire.Part > 0 {
				continue
			}
			see(p.Number, Holding)
			c.heldAcross++
			if !p.Gone() {
				c.held[h.Recipe()]++
			}
		}
	}
	for _, p := range c.t.Processes {
		if !facts.Hits(f, p.Number) || p.Gone() || len(p.Open) == 0 {
			continue
		}
		process, o := p.Number, p.Open[0]
		switch {
		case o.Kind == histories.Release:
			see(process, Releasing)
		case o.Passes(), o.Acquires() && len(o.Places) > 0:
			see(process, Waiting)
		case o.Acquires():
			see(process, Enqueuing)
		}
		if o.Acquires() || o.Passes() {
			c.awaited[o.Recipe()]++
		}
	}
	for _, p := range c.t.Processes {
		if !busy[p.Number] && facts.Hits(f, p.Number) && !p.Gone() && p.Began != facts.Forever {
			row.Met[Idle]++
		}
	}
}

// uses returns how much each recipe of the run was used.
func (c *tally) uses() []RecipeUse {
	var out []RecipeUse
	for _, r := range c.t.Recipes() {
		use := RecipeUse{Recipe: r, Held: c.held[r], Awaited: c.awaited[r]}
		for _, lock := range c.t.LocksThat(facts.Is(r)) {
			info := c.t.Info(lock)
			use.Locks++
			use.Operations += info.Operations
			use.Got += info.Got
		}
		out = append(out, use)
	}
	return out
}

func (c *tally) coverage() Coverage {
	out := make(Coverage, 0, len(c.rows))
	for _, name := range slices.Sorted(maps.Keys(c.rows)) {
		out = append(out, *c.rows[name])
	}
	return out
}

// figures are those of the run as a whole.
func (c *tally) figures() []verdict.Figure {
	return []verdict.Figure{
		{Name: "operations", Value: float64(c.operations), Unit: ""},
		{Name: "operations without an answer", Value: float64(c.unanswered), Unit: ""},
		{Name: "faults", Value: float64(len(c.t.Faults.All)), Unit: ""},
		{Name: "leases held across a fault's start", Value: float64(c.heldAcross), Unit: ""},
		{Name: "sessions expired while holding or waiting", Value: float64(c.expiredInUse), Unit: ""},
	}
}

// paceFigures tells of how many operations were answered in each second without a
// fault, if there was one.
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
