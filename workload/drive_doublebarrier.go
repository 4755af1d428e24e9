package workload

import (
	"context"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// brokenRounds is the share of members who crash on their way in or out, or inside:
// a round that is broken costs the others a session timeout.
const brokenRounds = 0.01

// longRounds says how seldom a round is one in which one member crashes inside, one
// stays until after its session has ended, and the others leave: they must wait for
// the one that stays.
const longRounds = 30

// memberSteps is how long it takes at most to pass an idle barrier.
const memberSteps = 30 * time.Millisecond

// members is how many a double barrier has, unless there are fewer clients.
const members = 3

var doubleBarrierRecipe = RecipeInfo{
	Recipe:      histories.DoubleBarrier,
	Description: "all enter together, and all leave together",
	locks: func(n, clients int) ([]string, histories.Lock) {
		// A broken round keeps its barrier from use for as long as a session.
		n = max(n, clients/(2*members))
		return numbered(string(histories.DoubleBarrier), n), histories.Lock{Recipe: histories.DoubleBarrier, Size: min(members, clients)}
	},
	make:     func(r *run) driver { return newDoubleBarrierDriver(r) },
	together: true,
}

// doubleBarrierDriver sends as many clients as the barrier has members through
// it, some of them late on their way in or out, and now and then too few, who
// must not pass, or one that turns back when all are there. A round whose member
// crashes or times out is broken: the others time out, and the next begins when
// nothing is left of it.
type doubleBarrierDriver struct {
	lobbies map[string]*lobby
	passed  map[string]*passed
	alone   sync.Mutex // who enters in vain
}

// passed counts the clients that have passed a barrier in recovery.
type passed struct {
	n        atomic.Int64
	everyone context.Context // ends when it was everybody
	done     context.CancelFunc
}

func newDoubleBarrierDriver(r *run) *doubleBarrierDriver {
	d := &doubleBarrierDriver{lobbies: make(map[string]*lobby), passed: make(map[string]*passed)}
	for name, key := range r.locks {
		if key.Recipe != histories.DoubleBarrier {
			continue
		}
		d.lobbies[name] = newLobby(key.Size, r.cfg.SessionTimeout, func() bool {
			left, err := r.observer.ephemerals(path.Join(r.lockRoot(), name))
			return err == nil && len(left) == 0
		})
		p := &passed{}
		p.everyone, p.done = context.WithCancel(r.life)
		d.passed[name] = p
	}
	return d
}

func (d *doubleBarrierDriver) cycle(ctx context.Context, c *client, name string, plan cycle) error {
	pushy, share := plan.more.Float64() < 0.03, 0.5+plan.more.Float64()
	r := d.lobbies[name].join(ctx, plan.patience, pushy)
	if r == nil {
		return nil
	}
	if r.short {
		share /= 4 // in vain
	}
	var in, out time.Duration
	switch plan.more.IntN(6) {
	case 0, 1:
		in = plan.patience
	case 2, 3:
		out = plan.patience
	}
	patience := time.Duration(share * float64(c.run.cfg.SessionTimeout))
	back := false
	switch rank := r.ranked.Add(1); {
	case r.turnsBack():
		in, out, patience = 0, 0, c.run.cfg.SessionTimeout/5
		if back = rank == 1; back {
			in = patience / 10 // the others are there by then
		}
	case r.generation%longRounds == longRounds/2 && !r.short:
		in, out, patience = 0, 0, 3*c.run.cfg.SessionTimeout
		plan.crash = rank == 1
		if rank == 2 {
			plan.hold = 3 * c.run.cfg.SessionTimeout / 2
		}
	case plan.more.Float64() < brokenRounds && plan.doom == 0:
		// Between two of its steps, or of the others': they are this fast.
		defer c.doom(in + time.Duration(plan.more.Float64()*float64(memberSteps))).Stop()
	}
	pause(ctx, in, nil)
	plan.hold += out
	_, err := d.pass(ctx, c, name, r, plan, patience, back)
	if asPlanned(err) {
		return nil
	}
	return err
}

// pass is one member's part in a round. It reports whether it came through. Each
// half has its own patience, and is not cut short by the end of ctx, since the
// others need this member; only it is not much longer then. It may turn back when all
// are there.
func (d *doubleBarrierDriver) pass(ctx context.Context, c *client, name string, r *round, plan cycle, patience time.Duration, back bool) (through bool, err error) {
	gone := false
	defer func() { r.end(!through && !gone) }()
	target, ok := c.client().(lock.DoubleBarrierClient)
	if !ok {
		return false, errCrashed // the run has given up on it meanwhile
	}
	e := histories.Event{Lock: name, Generation: r.generation}
	patiently := func() (context.Context, context.CancelFunc) {
		if end, ok := ctx.Deadline(); ok {
			patience = min(patience, max(time.Until(end), 0)+c.run.cfg.SessionTimeout/4)
		}
		return context.WithTimeout(c.run.life, patience)
	}
	entering, entered := patiently()
	defer entered()
	var m *roomMarks
	if r.turnsBack() {
		m = c.follow(name)
	}
	if m != nil && back {
		m.turnBack(entering, c.run.locks[name].Size, entered)
	}
	var member lock.Member
	c.setWaiting(true)
	err = c.operateMarked(histories.Enter, e, histories.Fail, func() (token histories.Token, err error) {
		member, err = target.EnterBarrier(entering, name)
		entered()
		switch {
		case m == nil:
		case err == nil:
			token = m.entered()
		default:
			token = m.gone()
			gone = token.Zxid != 0
		}
		return token, err
	})
	c.setWaiting(false)
	if err != nil {
		return false, err
	}
	c.setInside(true)
	defer c.setInside(false)
	pause(c.run.life, plan.hold, nil)
	if plan.crash && c.run.life.Err() == nil {
		c.crash(histories.Event{Lock: name, Generation: r.generation})
		return false, nil
	}
	leaving, left := patiently()
	defer left()
	c.setInside(false)
	c.setReleasing(true)
	defer c.setReleasing(false)
	err = c.operate(histories.Leave, e, histories.Fail, func() error { return member.Leave(leaving) })
	if err != nil {
		return false, err
	}
	c.run.journal.cycles.Add(1)
	return true, nil
}

// recover passes the barrier once, and then again where others who have not
// lack members.
func (d *doubleBarrierDriver) recover(ctx context.Context, c *client, name string) bool {
	through, passed := false, d.passed[name]
	waiting, enough := context.WithCancel(ctx)
	defer enough()
	defer context.AfterFunc(passed.everyone, enough)()
	for waiting.Err() == nil && c.ensureOpen(waiting) {
		if through && !d.lobbies[name].wanted() {
			pause(waiting, failureRest, nil) // others first, who have not passed yet
			continue
		}
		r := d.lobbies[name].join(waiting, c.run.promises.ProgressBound, false)
		if r == nil {
			continue
		}
		ok, _ := d.pass(ctx, c, name, r, cycle{}, c.run.promises.ProgressBound, false)
		if ok && !through {
			through = true
			if passed.n.Add(1) == int64(c.run.cfg.Clients) {
				passed.done()
			}
		}
		pause(waiting, failureRest, nil)
	}
	return through
}
