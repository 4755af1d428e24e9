package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

var revocationRecipe = RecipeInfo{
	Recipe:      histories.Revocation,
	Description: "a mutex whose holder is asked to release",
	make:        func(*run) driver { return revocationDriver{} },
}

// revocationDriver holds for longer than others, and some holders do until they
// are asked to release, if it is not too long. A third of the cycles ask. Most
// holders obey, some take their time. A few would hold on for longer than a
// request may take to reach them, and obey: whether requests get lost can only
// be seen of those. Half of the holders begin to listen only after a while, and
// must hear of what came before.
type revocationDriver struct{}

func (d revocationDriver) cycle(ctx context.Context, c *client, name string, plan cycle) error {
	ask, obey, generous := plan.more.Float64() < 0.35, plan.more.Float64() < 0.8, plan.more.Float64()
	waits, listensLate := generous < 0.1, plan.more.Float64() < 0.5
	locker := c.client().(lock.RevocableLocker).Revocable()
	if ask {
		return d.ask(ctx, c, locker, name)
	}
	h, err := c.get(ctx, plan, claimOf(locker, name))
	if h == nil {
		return err
	}
	if listensLate {
		pause(ctx, min(plan.hold, c.run.cfg.SessionTimeout/8), h.lease.Lost())
	}
	asked, told := context.WithCancel(ctx)
	defer told()
	h.lease.(lock.RevocableLease).OnRevoke(func() {
		h.revokeRequested()
		if obey || waits {
			told()
		}
	})
	levels := []lock.Lease{h.lease}
	if r, ok := locker.(lock.Reenterer); ok {
		levels = h.climb(asked, r, plan)
	}
	plan.hold *= 10
	switch {
	case waits:
		plan.hold = c.run.promises.RevokeBound + c.run.cfg.SessionTimeout/4
	case generous < 0.3:
		plan.hold = c.run.cfg.SessionTimeout / 4
	}
	h.use(asked, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

// ask asks whoever holds the lock to release it, if anybody does.
func (revocationDriver) ask(ctx context.Context, c *client, locker lock.RevokerLocker, name string) error {
	ctx, cancel := context.WithTimeout(ctx, c.run.cfg.SessionTimeout)
	defer cancel()
	token, node, err := locker.Holder(ctx, name)
	if err == nil {
		err = c.operate(histories.Revoke, histories.Event{Lock: name, Token: token}, histories.Info, func() error {
			return locker.Revoke(ctx, node)
		})
	}
	if asPlanned(err) {
		return nil
	}
	return err
}

func (revocationDriver) recover(ctx context.Context, c *client, name string) bool {
	return c.gets(ctx, histories.Acquire, revocableClaim(name))
}

func (revocationDriver) try(ctx context.Context, c *client, name string) bool {
	return c.gets(ctx, histories.TryAcquire, revocableClaim(name))
}

func revocableClaim(name string) func(lock.Client) claim {
	return func(target lock.Client) claim { return claimOf(target.(lock.RevocableLocker).Revocable(), name) }
}

// revokeRequested puts on record that the holder was asked to release, after the end
// of the lease too: whom nobody has asked must not be told, ever.
func (h *hold) revokeRequested() {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.event
	e.Type = histories.RevokeRequested
	h.c.recordAlive(e)
}
