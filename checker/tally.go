package checker

import (
	"github.com/zkverify/zkverify/histories"
)

// tally counts what happens while it happens: the figures of the run, what each
// fault met when it began, and how much each recipe was used.
type tally struct {
	t            *trace
	invoked      int // operations
	unanswered   int
	heldAcross   int // leases held when a fault began that hit their holder
	expiredInUse int // sessions that ended while their process held or waited
	rows         map[string]*CoverageRow
	uses         map[histories.Recipe]*RecipeUse
	lost         map[string]bool // sessions in which a lease was lost
	counted      map[string]bool // sessions in expiredInUse
}

func newTally(t *trace) tally {
	c := tally{
		t: t, rows: map[string]*CoverageRow{}, uses: map[histories.Recipe]*RecipeUse{},
		lost: map[string]bool{}, counted: map[string]bool{},
	}
	for _, r := range t.recipes() {
		c.uses[r] = &RecipeUse{Recipe: r}
	}
	return c
}

// begun hears of every operation, completed of those that were answered. The
// first part stands for all.
func (c *tally) begun(o *op) {
	c.invoked++
	c.unanswered++
	o.of.use.Operations++
}

func (c *tally) completed(o *op) {
	if o.part > 0 {
		return
	}
	if o.result != histories.Info {
		c.unanswered--
	}
	if o.progresses() && o.ok() {
		o.of.use.Got++
	}
}

// ended hears of every hold that ends.
func (c *tally) ended(h *hold) {
	if h.why == byLoss && h.session != "" {
		// It was told ahead of time.
		c.lost[h.session] = true
		if at, ok := c.t.expired[h.session]; ok && at >= h.start && !c.counted[h.session] {
			c.counted[h.session] = true
			c.expiredInUse++
		}
	}
}

// expired hears of every session that ends.
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

// struck hears of every fault that begins. A process that holds one lock and
// waits for another counts in both states.
func (c *tally) struck(f *faultSpan) {
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
		if !f.hits(p.number) {
			continue
		}
		for _, h := range p.holds {
			if h.acquire.part > 0 {
				continue
			}
			see(p.number, Holding)
			c.heldAcross++
			if !p.gone() {
				c.uses[c.t.recipe(h.lock)].Held++
			}
		}
	}
	for _, p := range c.t.procs {
		if !f.hits(p.number) || p.gone() || len(p.open) == 0 {
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
			c.uses[o.of.recipe].Awaited++
		}
	}
	for _, p := range c.t.procs {
		if !busy[p.number] && f.hits(p.number) && !p.gone() && p.began != forever {
			row.Met[Idle]++
		}
	}
}
