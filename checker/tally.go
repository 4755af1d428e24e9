package checker

import (
	"maps"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// tally counts what happens while it happens: the figures of the run, what each
// fault met when it began, and how much each recipe was used.
type tally struct {
	deaf
	t            *trace
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

func newTally(t *trace) *tally {
	return &tally{
		t: t, rows: map[string]*CoverageRow{}, held: map[histories.Recipe]int{}, awaited: map[histories.Recipe]int{},
		lost: map[string]bool{}, counted: map[string]bool{},
	}
}

func (c *tally) event(_ int, e *histories.Event) {
	switch e.Type {
	case histories.Expired:
		if _, seen := c.t.sessions.expired[e.Session]; !seen {
			c.expired(e.Session)
		}
	case histories.FaultStart:
		c.struck(e.Fault)
	}
}

// invoked counts an operation, and completed one that was answered. The first part
// stands for all.
func (c *tally) invoked(o *op) {
	if o.part == 0 {
		c.operations++
		c.unanswered++
	}
}

func (c *tally) completed(o *op) {
	if o.part == 0 && o.result != histories.Info {
		c.unanswered--
	}
}

// ended counts sessions that a hold ends with.
func (c *tally) ended(h *hold) {
	if h.why == byLoss && h.session != "" {
		// It was told ahead of time.
		c.lost[h.session] = true
		if at, ok := c.t.sessions.expired[h.session]; ok && at >= h.start && !c.counted[h.session] {
			c.counted[h.session] = true
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
	for _, p := range c.t.procs {
		for _, h := range p.holds {
			if h.session == session {
				return true
			}
		}
	}
	for _, p := range c.t.procs {
		for _, o := range p.open {
			for _, p := range o.places {
				if p.session == session {
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
	for _, p := range c.t.procs {
		if !hits(f, p.number) {
			continue
		}
		for _, h := range p.holds {
			if h.acquire.part > 0 {
				continue
			}
			see(p.number, Holding)
			c.heldAcross++
			if !p.gone() {
				c.held[h.recipe()]++
			}
		}
	}
	for _, p := range c.t.procs {
		if !hits(f, p.number) || p.gone() || len(p.open) == 0 {
			continue
		}
		process, o := p.number, p.open[0]
		switch {
		case o.kind == histories.Release:
			see(process, Releasing)
		case o.passes(), o.acquires() && len(o.places) > 0:
			see(process, Waiting)
		case o.acquires():
			see(process, Enqueuing)
		}
		if o.acquires() || o.passes() {
			c.awaited[o.recipe()]++
		}
	}
	for _, p := range c.t.procs {
		if !busy[p.number] && hits(f, p.number) && !p.gone() && p.began != forever {
			row.Met[Idle]++
		}
	}
}

// uses returns how much each recipe of the run was used.
func (c *tally) uses() []RecipeUse {
	var out []RecipeUse
	for _, r := range c.t.recipes() {
		use := RecipeUse{Recipe: r, Held: c.held[r], Awaited: c.awaited[r]}
		for _, lock := range c.t.locksThat(is(r)) {
			info := c.t.info(lock)
			use.Locks++
			use.Operations += info.operations
			use.Got += info.got
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
func (c *tally) figures() []Figure {
	return []Figure{
		{"operations", float64(c.operations), ""},
		{"operations without an answer", float64(c.unanswered), ""},
		{"faults", float64(len(c.t.faults.all)), ""},
		{"leases held across a fault's start", float64(c.heldAcross), ""},
		{"sessions expired while holding or waiting", float64(c.expiredInUse), ""},
	}
}

// paceFigures tells of how many operations were answered in each second without a
// fault, if there was one.
func paceFigures(counts []int) []Figure {
	if len(counts) == 0 {
		return nil
	}
	counts = slices.Sorted(slices.Values(counts))
	return []Figure{
		{"seconds without a fault in force", float64(len(counts)), ""},
		{"operations answered in such a second, least", float64(counts[0]), ""},
		{"operations answered in such a second, median", float64(counts[len(counts)/2]), ""},
	}
}
