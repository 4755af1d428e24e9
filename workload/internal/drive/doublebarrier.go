package drive

import (
	"context"
	"path"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/seeded"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

// brokenRounds is the share of members that crash on their way in or out, or inside: a round
// that is broken costs the others a session timeout.
const brokenRounds = 0.01

// longRounds is the number of rounds of which one is long: one member crashes inside, one stays
// until after its session has ended, and the others leave: they must wait for the one that
// stays.
const longRounds = 30

// abandoned is the round, of longRounds, in which all members crash inside: the next finds its node.
const abandoned = 5

// memberSteps is the longest time that it takes to pass an idle barrier.
const memberSteps = 30 * time.Millisecond

// members is the number of members of a double barrier, unless there are fewer clients.
const members = 3

var doubleBarrierRecipe = recipe{
	Name:        histories.DoubleBarrier,
	Description: "all enter together, and all leave together",
	locks: func(n, clients int) ([]string, histories.Lock) {
		// A broken round keeps its barrier from use for as long as a session lives.
		n = max(n, clients/(2*members))
		return numbered(string(histories.DoubleBarrier), n), histories.Lock{Recipe: histories.DoubleBarrier, Size: min(members, clients)}
	},
	make:     func(r *client.Shared, mix cycle.Mix, g *Group) driver { return newDoubleBarrierDriver(r, mix, g) },
	together: true,
}

// doubleBarrierDriver sends as many clients as the barrier has members through it, some of them
// late on their way in or out. Now and then too few come, which must not pass, or one turns
// back when all are there. A round whose member crashes or times out is broken: the others time
// out, and the next begins when no node of the broken one is left.
type doubleBarrierDriver struct {
	meetings map[string]*rendezvous
	passed   map[string]*passed
	// alone has room for a client that enters without the others. A mutex that a goroutine
	// waits for would stop the clock of a bubble of testing/synctest.
	alone chan struct{}
	// apart is set in a run whose members agree on no rounds: see wander.
	apart bool
	names []string
	since time.Time // when the run began
}

// passed counts the clients that have passed a barrier in recovery.
type passed struct {
	n        atomic.Int64
	everyone context.Context // ends when all clients have passed
	done     context.CancelFunc
}

func newDoubleBarrierDriver(r *client.Shared, mix cycle.Mix, g *Group) *doubleBarrierDriver {
	d := &doubleBarrierDriver{meetings: make(map[string]*rendezvous), passed: make(map[string]*passed), alone: make(chan struct{}, 1)}
	d.names, d.since = g.names, time.Now()
	d.apart = seeded.Rand(uint64(r.Seed), 1<<36).Float64() < mix.Apart
	for _, name := range g.names {
		d.meetings[name] = newRendezvous(g.lock.Size, r.SessionTimeout, d.apart, func() bool {
			left, err := r.Observer.Ephemerals(path.Join(r.Observer.LockRoot(), name))
			return err == nil && len(left) == 0
		})
		p := &passed{}
		p.everyone, p.done = context.WithCancel(r.Life)
		d.passed[name] = p
	}
	return d
}

func (d *doubleBarrierDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	if d.apart {
		return d.wander(ctx, c, plan)
	}
	pushy, share := plan.More.Float64() < 0.03, 0.5+plan.More.Float64()
	r := d.meetings[name].join(ctx, plan.Patience, pushy)
	if r == nil {
		return nil
	}
	if r.short {
		share /= 4 // it cannot pass
	}
	var in, out time.Duration
	switch plan.More.IntN(6) {
	case 0, 1:
		in = plan.Patience
	case 2, 3:
		out = plan.Patience
	}
	patience := time.Duration(share * float64(c.Run.SessionTimeout))
	var way way
	switch rank := r.ranked.Add(1); {
	case r.turnsBack():
		in, out, patience = 0, 0, c.Run.SessionTimeout/5
		if rank == 1 {
			way.back = c.Run.Locks[name].Size
			in = patience / 10 // the others are there by then
		}
	case r.comesAgain():
		way.again = time.Duration(plan.More.Float64() * float64(memberSteps))
		switch {
		case rank == 1:
			in, way.back = memberSteps, c.Run.Locks[name].Size+1
			way.pause = time.Duration(2 * plan.More.Float64() * float64(plan.Hold))
		case r.generation%2 == 0:
			if way.leaves = true; plan.More.IntN(2) == 0 {
				way.again = 1 // it has given up before
			}
		case plan.More.IntN(2) == 0:
			way.again = 0
		}
	case r.generation%longRounds == longRounds/2 && !r.short:
		in, out, patience = 0, 0, 3*c.Run.SessionTimeout
		plan.Crash = rank == 1
		if rank == 2 {
			plan.Hold = 3 * c.Run.SessionTimeout / 2
		}
	case r.generation%longRounds == abandoned && !r.short:
		in, out, patience = 0, 0, c.Run.SessionTimeout
		plan.Crash = true
	case plan.More.Float64() < brokenRounds && plan.Doom == 0:
		// Between two of its steps, or of the others': they take about that long.
		defer doom(c, in+time.Duration(plan.More.Float64()*float64(memberSteps))).Stop()
	}
	wait.For(ctx, in)
	plan.Hold += out
	_, err := d.pass(ctx, c, name, r, plan, patience, way)
	if asPlanned(err) {
		return nil
	}
	return err
}

// way is the way in which a member passes.
type way struct {
	// again is for a member that gives up, by itself or after so long, between two of its requests, and
	// enters again.
	again    time.Duration
	back     int           // it turns back when so many nodes are there: the members', or also that of the round
	leaves   bool          // it gives up on its way out, not in
	pause    time.Duration // before it enters again
	patience time.Duration // for an enter
}

// tries returns the enters of a member, which has so much patience, until one succeeds.
func (w way) tries(patience time.Duration) []way {
	last := way{patience: patience}
	switch {
	case w.again == 0, w.leaves:
		last.back = w.back
		return []way{last}
	case w.back > 0:
		last.pause = w.pause
		return []way{{patience: patience, back: w.back}, last}
	}
	return []way{{patience: w.again}, last}
}

// pass carries out one member's part in a round. It reports whether the member came through.
// Each half has its own patience, and is not cut short by the end of ctx, since the others need
// this member; but it ends a quarter of a session timeout after ctx's deadline.
func (d *doubleBarrierDriver) pass(ctx context.Context, c *client.Client, name string, r *round, plan cycle.Plan, patience time.Duration, way way) (through bool, err error) {
	gone := false
	defer func() { r.end(!through && !gone) }()
	target, ok := c.Target().(lock.DoubleBarrierClient)
	if !ok {
		return false, lock.ErrCrashed // the run has given up on the client meanwhile
	}
	e := histories.Event{Lock: name, Generation: r.generation}
	var member lock.Member
	err = lock.ErrCrashed
	for _, way := range way.tries(patience) {
		wait.For(c.Run.Life, way.pause)
		if now, _ := c.Target().(lock.DoubleBarrierClient); now != target {
			break // the client has crashed meanwhile
		}
		entering, entered := lasting(ctx, c, way.patience)
		if member, gone, err = enter(entering, entered, c, target, e, r, way.back); err == nil {
			break
		}
	}
	if err != nil {
		return false, err
	}
	wait.For(c.Run.Life, plan.Hold)
	if plan.Crash && c.Run.Life.Err() == nil {
		c.Crash(histories.Event{Lock: name, Generation: r.generation})
		return false, nil
	}
	if way.leaves {
		patience = way.again
	}
	leaving, left := lasting(ctx, c, patience)
	defer left()
	err = goOut(leaving, c, member, e)
	if now, _ := c.Target().(lock.DoubleBarrierClient); err != nil && way.leaves && now == target {
		entering, entered := lasting(ctx, c, c.Run.SessionTimeout/8)
		if member, _, again := enter(entering, entered, c, target, e, r, 0); again == nil {
			return false, goOut(leaving, c, member, e)
		}
	}
	if err != nil {
		return false, err
	}
	c.Journal.Cycles.Add(1)
	return true, nil
}

// lasting returns the context of an enter or a leave: it lasts for patience, but not for long after
// ctx's deadline.
func lasting(ctx context.Context, c *client.Client, patience time.Duration) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok {
		patience = min(patience, max(time.Until(end), 0)+c.Run.SessionTimeout/4)
	}
	life, end := c.Cancellable(c.Run.Life)
	ctx, cancel := context.WithTimeout(life, patience)
	return ctx, func() { cancel(); end() }
}

// goOut leaves the barrier.
func goOut(leaving context.Context, c *client.Client, member lock.Member, e histories.Event) error {
	return hold.Operate(leaving, c, histories.Leave, e, histories.Fail, func() error { return member.Leave(leaving) })
}

// enter enters the barrier for a member, until entering ends or entered is called. It reports
// whether no node is left of a member that did not get in.
func enter(entering context.Context, entered func(), c *client.Client, target lock.DoubleBarrierClient, e histories.Event, r *round, back int) (member lock.Member, gone bool, err error) {
	var m *barrierReads
	if r.turnsBack() || back > 0 {
		m = follow(c, e.Lock)
	}
	if m != nil && back > 0 {
		m.turnBack(entering, back, entered)
	}
	err = hold.OperateMarked(entering, c, histories.Enter, e, histories.Fail, func() (err error) {
		member, err = target.EnterBarrier(entering, e.Lock)
		return err
	}, func(err error) (token histories.Token) {
		entered()
		switch {
		case m == nil:
		case err == nil:
			token = m.entered()
		default:
			token = m.gone()
			gone = token.Zxid != 0
		}
		return token
	})
	return member, gone, err
}

// recover passes the barrier once, and then again while clients that have not passed lack
// members.
func (d *doubleBarrierDriver) recover(ctx context.Context, c *client.Client, name string) bool {
	through, passed := false, d.passed[name]
	waiting, enough := context.WithCancel(ctx)
	defer enough()
	defer context.AfterFunc(passed.everyone, enough)()
	for waiting.Err() == nil && c.EnsureOpen(waiting) {
		if through && !d.meetings[name].wanted() {
			wait.For(waiting, failureRest) // clients that have not passed yet come first
			continue
		}
		r := d.meetings[name].join(waiting, c.Run.Promises.ProgressBound, false)
		if r == nil {
			continue
		}
		// The others of the round count on this client, though it may have crashed with its
		// application while it waited for them.
		c.EnsureOpen(waiting)
		patience := c.Run.Promises.ProgressBound
		if d.apart {
			patience = min(patience, c.Run.SessionTimeout) // a round may have begun with one that wandered
		}
		ok, _ := d.pass(ctx, c, name, r, cycle.Plan{}, patience, way{})
		if ok && !through {
			through = true
			if passed.n.Add(1) == int64(c.Run.Clients) {
				passed.done()
			}
		}
		wait.For(waiting, failureRest)
	}
	return through
}
