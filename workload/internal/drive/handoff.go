package drive

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

// handOvers is the number of times that a place may be handed on: few, so that runs reach the
// limit, and a target that exceeds the limit is found out.
const handOvers = 3

var handoffRecipe = recipe{
	Name:        histories.Handoff,
	Description: "a mutex that is handed on within a client, for a while",
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.Handoff), n), histories.Lock{Recipe: histories.Handoff, Size: handOvers}
	},
	make: func(r *client.Shared, _ cycle.Mix, _ *Group) driver { return handoffDriver{r.Promises.Reentrant} },
}

// handoffDriver drives the lock as a mutex. A client without siblings holds it alone.
type handoffDriver struct{ reentrant bool }

func (d handoffDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	locker := lockerOf(c.Target(), histories.Handoff, "")
	h, err := get(ctx, c, plan, hold.ClaimOf(locker, name))
	if h == nil {
		return err
	}
	levels := []lock.Lease{h.Lease}
	if r, ok := locker.(lock.Reenterer); ok && d.reentrant {
		levels = h.Climb(ctx, r, plan)
	}
	h.Use(ctx, levels, plan)
	h.Finish(ctx, plan, levels)
	return nil
}

func (handoffDriver) recover(ctx context.Context, c *client.Client, name string) bool {
	return gets(ctx, c, histories.Acquire, handoffClaim(name))
}

func (handoffDriver) try(ctx context.Context, c *client.Client, name string) bool {
	return gets(ctx, c, histories.TryAcquire, handoffClaim(name))
}

func handoffClaim(name string) func(lock.Client) hold.Claim {
	return func(target lock.Client) hold.Claim {
		return hold.ClaimOf(lockerOf(target, histories.Handoff, ""), name)
	}
}
