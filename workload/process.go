package workload

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// failureRest keeps a client whose acquires fail at once from filling the
// history with them.
const failureRest = 50 * time.Millisecond

// chaos is a client's life while faults come and go: one cycle after the other
// until ctx ends. What is under way then is finished: acquires are cancelled,
// holds released.
func (c *client) chaos(ctx context.Context) {
	for ctx.Err() == nil {
		g, plan := c.plan(c.run.elapsed())
		c.setAt(g.Recipe)
		pause(ctx, plan.rest, nil)
		if !c.ensureOpen(ctx) {
			return
		}
		if c.asks.Float64() < askQueue {
			c.askQueue(ctx, g.names[plan.lock])
		}
		doom := c.doom(plan.doom)
		err := g.driver.cycle(ctx, c, g.names[plan.lock], plan)
		doom.Stop()
		if err != nil {
			pause(ctx, failureRest, nil)
		}
	}
}

// doom has the client crash after so long, whatever it does then; 0 is never. It does
// not outlive the chaos phase.
func (c *client) doom(after time.Duration) *time.Timer {
	if after <= 0 || c.hosted() {
		t := time.NewTimer(time.Hour)
		t.Stop()
		return t
	}
	return time.AfterFunc(after, c.perish)
}

// plan decides the next cycle, so long after the chaos phase began.
//
// Where several recipes are driven each client is at home with one of them. In
// most cycles it visits the one that all visit at that time: one where nobody
// meets anybody shows nothing. Whoever waits for ever does so mostly at home: see
// Mix.draw.
func (c *client) plan(elapsed time.Duration) (*group, cycle) {
	r := c.run
	more := rand.New(rand.NewPCG(c.more.Uint64(), c.more.Uint64()))
	home, away, patient := c.index%len(r.groups), more.Float64() < 0.7, more.Float64() < 0.1
	which := home
	if away {
		which = r.fashion(elapsed)
	}
	g := r.groups[which]
	plan := r.cfg.Mix.draw(c.rand, len(g.names), c.index, r.cfg.SessionTimeout)
	if which != home && plan.way == wayWait && !patient {
		plan.way = wayTimeout
	}
	plan.more = more
	if more.Float64() < r.cfg.Mix.Crash {
		plan.doom = time.Millisecond/10 + time.Duration(more.Float64()*float64(5*r.cfg.Mix.Hold))
	}
	plan.hasty, plan.late = more.Float64() < r.cfg.Mix.Ended, more.Float64() < r.cfg.Mix.Ended
	plan.hurried = more.Float64() < hurriedPer*r.cfg.Mix.Ended
	return g, plan
}

// hurriedPer is how much more often a release whose link is down has a context that has
// ended than others: that is when callers give up, and when a release has most to do.
const hurriedPer = 30

// fashion returns which recipe is visited at a time: each for a quarter of a
// session timeout, in an order that the seed decides for every round of them. One
// that clients do together has two turns in a round: nobody can do it when others
// visit elsewhere.
func (r *run) fashion(elapsed time.Duration) int {
	var turns []int
	for i, g := range r.groups {
		turns = append(turns, i)
		if g.together {
			turns = append(turns, i)
		}
	}
	n := len(turns)
	slot := int(elapsed / (r.cfg.SessionTimeout/4 + 1))
	order := rand.New(rand.NewPCG(uint64(r.cfg.Seed), uint64(slot/n)+1<<33)).Perm(n)
	return turns[order[slot%n]]
}

// recover uses every lock once, starting with another one than its neighbors,
// and returns those that it could not use before ctx ended.
func (c *client) recover(ctx context.Context) (missed []string) {
	type place struct {
		*group
		name string
	}
	var places, last []place
	for _, g := range c.run.groups {
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
	for i := range places {
		recover(places[(c.index+i)%len(places)])
	}
	for _, p := range last {
		recover(p)
	}
	return missed
}

// tryAll tries every lock that can be tried until it gets it once, or ctx ends.
func (c *client) tryAll(ctx context.Context) {
	for _, g := range c.run.groups {
		if t, ok := g.driver.(trier); ok {
			for _, name := range g.all() {
				t.try(ctx, c, name)
			}
		}
	}
}

// get acquires in the planned way. It returns no hold and no error for an
// acquire that failed in a way that was planned: a try, a wait that ended.
func (c *client) get(ctx context.Context, plan cycle, asked claim) (*hold, error) {
	op, do := histories.Acquire, asked.acquire
	switch plan.way {
	case wayWait:
		ctx = c.run.patience
	case wayTry:
		// It does not wait for others, but it does wait for the servers.
		op, do = histories.TryAcquire, asked.try
	case wayTimeout:
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.patience)
		defer cancel()
	case wayCancel:
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(plan.patience, cancel).Stop()
	}
	if plan.late {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	}
	h, err := c.acquire(ctx, op, asked.event, do)
	if asPlanned(err) {
		err = nil
	}
	return h, err
}

// asPlanned reports whether an acquire or a wait failed by its client's choice.
func asPlanned(err error) bool {
	return errors.Is(err, lock.ErrNotAcquired) || errors.Is(err, lock.ErrNotHeld) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// gets acquires, or tries to, until it has what it asked for or ctx ends; then
// it increments and releases. ask says of the client as it is then what to ask
// for: it may have to be opened again.
func (c *client) gets(ctx context.Context, op histories.Op, ask func(lock.Client) claim) bool {
	for ctx.Err() == nil && c.ensureOpen(ctx) {
		asked := ask(c.client())
		do := asked.acquire
		if op == histories.TryAcquire {
			do = asked.try
		}
		h, err := c.acquire(ctx, op, asked.event, do)
		if err != nil {
			pause(ctx, failureRest, nil)
			continue
		}
		h.increment(ctx, h.lease, 0)
		h.releaseAll([]lock.Lease{h.lease}, cycle{})
		return true
	}
	return false
}

// pause returns after d, or when ctx or other ends.
func pause(ctx context.Context, d time.Duration, other <-chan struct{}) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-other:
	}
}
