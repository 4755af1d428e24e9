package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
)

// HandoffLocker is implemented by clients that offer a mutex which a release hands
// on within the client: Env.Locks says how often in a row at most. If the locker is
// a [Reenterer] that is put to the test too. It takes a [Concurrent] target for
// anybody to be there whom it can be handed to.
type HandoffLocker interface{ Handoff() Locker }

// handOvers is how often a place in the queue may be handed on: few, so that it is
// done as often as it may be, and once more if it can be.
const handOvers = 3

var handoffRecipe = RecipeInfo{
	Recipe:      histories.Handoff,
	Description: "a mutex that is handed on within a client, for a while",
	offered:     func(c Client) bool { _, ok := c.(HandoffLocker); return ok },
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.Handoff), n), histories.Lock{Recipe: histories.Handoff, Size: handOvers}
	},
	make: func(r *run) driver { return handoffDriver{r.promises.Reentrant} },
}

// handoffDriver drives it as any mutex. Who has no sibling to hand it to holds it
// alone.
type handoffDriver struct{ reentrant bool }

func (d handoffDriver) cycle(ctx context.Context, c *client, lock string, plan cycle) error {
	locker := c.client().(HandoffLocker).Handoff()
	h, err := c.get(ctx, plan, claimOf(locker, lock))
	if h == nil {
		return err
	}
	levels := []Lease{h.lease}
	if r, ok := locker.(Reenterer); ok && d.reentrant {
		levels = h.climb(ctx, r, plan)
	}
	h.use(ctx, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

func (handoffDriver) recover(ctx context.Context, c *client, lock string) bool {
	return c.gets(ctx, histories.Acquire, handoffClaim(lock))
}

func (handoffDriver) try(ctx context.Context, c *client, lock string) bool {
	return c.gets(ctx, histories.TryAcquire, handoffClaim(lock))
}

func handoffClaim(lock string) func(Client) claim {
	return func(target Client) claim { return claimOf(target.(HandoffLocker).Handoff(), lock) }
}
