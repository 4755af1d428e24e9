package drive

import (
	"context"
	"sync/atomic"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

var revocationRecipe = recipe{
	Name:        histories.Revocation,
	Description: "a mutex whose holder is asked to release",
	make: func(*client.Shared, cycle.Mix, *Group) driver {
		return revocationDriver{oneByOne(histories.Revocation)}
	},
}

// revocationDriver holds for longer than others, and some holders hold on until they are asked
// to release, up to a limit. A third of the cycles ask. Most holders obey, some take their
// time. A few would hold on for longer than a request may take to reach them, and obey, some of them
// only the second request: only these show whether requests get lost, and what comes after the first.
// Half of the holders begin to listen only after a while,
// and must hear of requests that came before.
type revocationDriver struct{ oneByOne }

func (d revocationDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	asks, obey, generous := plan.More.Float64() < 0.35, plan.More.Float64() < 0.8, plan.More.Float64()
	waits, listensLate := generous < 0.1, plan.More.Float64() < 0.5
	locker := c.Target().(lock.RevocableLocker).Revocable()
	if asks {
		return ask(ctx, c, locker, name)
	}
	h, err := get(ctx, c, plan, hold.ClaimOf(locker, name))
	if h == nil {
		return err
	}
	if listensLate {
		wait.ForOr(ctx, min(plan.Hold, c.Run.SessionTimeout/8), h.Lease.Lost())
	}
	obeyed := 0
	switch {
	case waits:
		obeyed = 1 + plan.More.IntN(2)
	case obey:
		obeyed = 1
	}
	asked, told := listen(ctx, h, obeyed)
	defer told()
	levels := []lock.Lease{h.Lease}
	if r, ok := locker.(lock.Reenterer); ok {
		levels = h.Climb(asked, r, plan)
	}
	plan.Hold *= 10
	switch {
	case waits:
		plan.Hold = c.Run.Promises.RevokeBound + c.Run.SessionTimeout/4
	case generous < 0.3:
		plan.Hold = c.Run.SessionTimeout / 4
	}
	h.Use(asked, levels, plan)
	h.Finish(ctx, plan, levels)
	return nil
}

// listen makes a holder listen to requests to release. The context that it returns ends with ctx, and
// with the request that the holder obeys: it counts them from 1, and obeys none if that is 0.
func listen(ctx context.Context, h *hold.Hold, obeyed int) (asked context.Context, told context.CancelFunc) {
	asked, told = context.WithCancel(ctx)
	var requests atomic.Int32
	h.Lease.(lock.RevocableLease).OnRevoke(func() {
		h.RevokeRequested()
		if int(requests.Add(1)) == obeyed {
			told()
		}
	})
	return asked, told
}

// ask asks the holder of the lock to release it, if there is one.
func ask(ctx context.Context, c *client.Client, locker lock.RevokerLocker, name string) error {
	ctx, returned := c.Cancellable(ctx)
	defer returned()
	ctx, cancel := context.WithTimeout(ctx, c.Run.SessionTimeout)
	defer cancel()
	token, node, err := locker.Holder(ctx, name)
	if err == nil {
		err = hold.Operate(ctx, c, histories.Revoke, histories.Event{Lock: name, Token: token}, histories.Info, func() error {
			return locker.Revoke(ctx, node)
		})
	}
	if asPlanned(err) {
		return nil
	}
	return err
}
