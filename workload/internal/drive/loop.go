package drive

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/internal/seeded"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
)

// Drivers are the drivers of all recipes of a run.
type Drivers struct {
	run    *client.Shared
	mix    cycle.Mix
	Groups []*Group
}

// New makes the drivers once the locks of the run are known.
func New(r *client.Shared, mix cycle.Mix, groups []*Group) *Drivers {
	for _, g := range groups {
		g.driver = g.make(r, mix, g)
	}
	return &Drivers{r, mix, groups}
}

// Chaos runs a client while faults come and go: one cycle after the other until ctx ends. The
// cycle under way then is finished: its acquire is cancelled, or its hold released. elapsed
// returns the time since the chaos phase began.
func (d *Drivers) Chaos(ctx context.Context, c *client.Client, elapsed func() time.Duration) {
	for ctx.Err() == nil {
		g, plan := d.plan(c, elapsed())
		wait.For(ctx, plan.Rest)
		if !c.EnsureOpen(ctx) {
			return
		}
		if c.Asks.Float64() < hold.AskQueueShare {
			hold.AskQueue(ctx, c, g.names[plan.Lock])
		}
		doom := doom(c, plan.Doom)
		err := g.driver.cycle(ctx, c, g.names[plan.Lock], plan)
		doom.Stop()
		if err != nil {
			wait.For(ctx, failureRest)
		}
	}
}

// plan decides the next cycle; elapsed is the time since the chaos phase began.
//
// Where several recipes are driven each client is at home with one of them. In most cycles it
// visits the one that all visit at that time: a lock at which clients do not meet shows
// nothing. A client that waits for ever does so mostly at home: see Mix.Draw.
func (d *Drivers) plan(c *client.Client, elapsed time.Duration) (*Group, cycle.Plan) {
	more := seeded.Rand(c.More.Uint64(), c.More.Uint64())
	home, away, patient := c.Index%len(d.Groups), more.Float64() < 0.7, more.Float64() < 0.1
	which := home
	if away {
		which = d.fashion(elapsed)
	}
	g := d.Groups[which]
	plan := d.mix.Draw(c.Rand, len(g.names), c.Index, d.run.SessionTimeout)
	if which != home && plan.Way == cycle.Wait && !patient {
		plan.Way = cycle.Timeout
	}
	plan.More = more
	if more.Float64() < d.mix.Crash {
		plan.Doom = time.Millisecond/10 + time.Duration(more.Float64()*float64(5*d.mix.Hold))
	}
	plan.Hasty, plan.Late = more.Float64() < d.mix.Ended, more.Float64() < d.mix.Ended
	plan.Hurried = more.Float64() < hurriedPer*d.mix.Ended
	return g, plan
}

// hurriedPer is the factor by which a release whose link is down more often has an ended context
// than other releases: then callers give up, and a release has most to do.
const hurriedPer = 30

// fashion returns the index of the recipe that clients visit at a time: each for a quarter of a
// session timeout, in an order that the seed decides for every round of recipes. A recipe that
// clients do together has two turns in a round: no client can do it while others visit
// elsewhere.
func (d *Drivers) fashion(elapsed time.Duration) int {
	var turns []int
	for i, g := range d.Groups {
		turns = append(turns, i)
		if g.together {
			turns = append(turns, i)
		}
	}
	n := len(turns)
	slot := int(elapsed / (d.run.SessionTimeout/4 + 1))
	order := seeded.Rand(uint64(d.run.Seed), uint64(slot/n)+1<<33).Perm(n)
	return turns[order[slot%n]]
}

// Recover uses every lock once, in one process, starting with another one than its neighbors, and returns the
// locks that it could not use before ctx ended.
func (d *Drivers) Recover(ctx context.Context, c *client.Client) (missed []string) {
	type place struct {
		*Group
		name string
	}
	var places, last []place
	for _, g := range d.Groups {
		for _, name := range g.all() {
			if g.together {
				last = append(last, place{g, name})
			} else {
				places = append(places, place{g, name})
			}
		}
	}
	recover := func(p place) {
		if !p.driver.recover(ctx, c, p.name) {
			missed = append(missed, p.name)
		}
	}
	all := func() int {
		process := c.Current()
		for i := range places {
			recover(places[(c.Index+i)%len(places)])
		}
		return process
	}
	process := all()
	for _, p := range last {
		recover(p)
	}
	// The process that follows one that has crashed has every lock to get.
	for process != c.Current() && ctx.Err() == nil {
		process = all()
	}
	return missed
}

// TryAll tries every lock that can be tried until it gets the lock once, or ctx ends.
func (d *Drivers) TryAll(ctx context.Context, c *client.Client) {
	for _, g := range d.Groups {
		if t, ok := g.driver.(trier); ok {
			for _, name := range g.all() {
				t.try(ctx, c, name)
			}
		}
	}
}
