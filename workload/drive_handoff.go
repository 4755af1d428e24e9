package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// handOvers is how often a place in the queue may be handed on: few, so that it is
// done as often as it may be, and once more if it can be.
const handOvers = 3

var handoffRecipe = RecipeInfo{
	Recipe:      histories.Handoff,
	Description: "a mutex that is handed on within a client, for a while",
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.Handoff), n), histories.Lock{Recipe: histories.Handoff, Size: handOvers}
	},
	make: func(r *run) driver { return handoffDriver{r.promises.Reentrant} },
}

// handoffDriver drives it as any mutex. Who has no sibling to hand it to holds it
// alone.
type handoffDriver struct{ reentrant bool }

func (d handoffDriver) cycle(ctx context.Context, c *client, name string, plan cycle) error {
	locker := c.client().(lock.HandoffLocker).Handoff()
	h, err := c.get(ctx, plan, claimOf(locker, name))
	if h == nil {
		return err
	}
	levels := []lock.Lease{h.lease}
	if r, ok := locker.(lock.Reenterer); ok && d.reentrant {
		levels = h.climb(ctx, r, plan)
	}
	h.use(ctx, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

func (handoffDriver) recover(ctx context.Context, c *client, name string) bool {
	return c.gets(ctx, histories.Acquire, handoffClaim(name))
}

func (handoffDriver) try(ctx context.Context, c *client, name string) bool {
	return c.gets(ctx, histories.TryAcquire, handoffClaim(name))
}

func handoffClaim(name string) func(lock.Client) claim {
	return func(target lock.Client) claim { return claimOf(target.(lock.HandoffLocker).Handoff(), name) }
}
