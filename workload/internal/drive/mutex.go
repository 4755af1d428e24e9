package drive

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

var mutexRecipe = recipe{
	Name:        histories.Mutex,
	Description: "one holder, who may acquire again; guards two counters",
	// Their short name is older than the other recipes.
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered("lock", n), histories.Lock{Recipe: histories.Mutex}
	},
	spares: 3,
	make: func(r *client.Shared, _ cycle.Mix, g *Group) driver {
		return mutexDriver{oneByOne(histories.Mutex), g.spare, r.Promises.Reentrant}
	},
}

// handOvers is the number of times that a place may be handed on: few, so that runs reach the
// limit, and a target that exceeds the limit is found out.
const handOvers = 3

var handoffRecipe = recipe{
	Name:        histories.Handoff,
	Description: "a mutex that is handed on within a client, for a while",
	locks: func(n, _ int) ([]string, histories.Lock) {
		return numbered(string(histories.Handoff), n), histories.Lock{Recipe: histories.Handoff, Size: handOvers}
	},
	// A client without siblings holds it alone.
	make: func(r *client.Shared, _ cycle.Mix, _ *Group) driver {
		return mutexDriver{oneByOne(histories.Handoff), nil, r.Promises.Reentrant}
	},
}

// mutexDriver drives a mutex: acquire in one of four ways, increment the counters that the lock
// guards, hold on, perhaps re-enter, release or crash. If there are spare locks, one cycle in ten
// goes to one that no other client uses meanwhile.
type mutexDriver struct {
	oneByOne
	spare     *spare // nil: there are none
	reentrant bool
}

func (d mutexDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	locker := lockerOf(c.Target(), histories.Recipe(d.oneByOne), "")
	if d.spare != nil && plan.More.Float64() < relayed {
		return relay(ctx, c, d.spare, plan, func(name string) hold.Claim { return hold.ClaimOf(locker, name) })
	}
	claim := hold.ClaimOf(locker, name)
	h, other, err := getBoth(ctx, c, locker, plan, claim, claim)
	if h == nil {
		return err
	}
	again(ctx, h, other)
	levels := h.Levels()
	if r, ok := locker.(lock.Reenterer); ok && d.reentrant {
		levels = h.Climb(ctx, r, plan)
	}
	h.Use(ctx, levels, plan)
	h.Finish(ctx, plan, levels)
	return nil
}
