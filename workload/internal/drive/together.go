package drive

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

// atOnce is the share of acquires that an owner makes twice at a time.
const atOnce = 0.1

// apart is the longest time from the first of two such calls to the second.
const apart = 2 * time.Millisecond

// getBoth is get for a locker that may keep holds by their owner: then an owner sometimes acquires by
// two calls at a time, the second for one of others. If both got the lock, and the second did not
// enter the hold of the first, other is that of the second.
func getBoth(ctx context.Context, c *client.Client, l lock.Locker, plan cycle.Plan, asked hold.Claim, others ...hold.Claim) (h, other *hold.Hold, err error) {
	_, byOwner := l.(lock.OwnerLocker)
	if !byOwner || c.Together.Float64() >= atOnce || plan.Way == cycle.Try {
		h, err = get(ctx, c, plan, asked)
	} else {
		second, after := others[c.Together.IntN(len(others))], time.Duration(0)
		if c.Together.IntN(2) == 0 {
			after = time.Duration(c.Together.Float64() * float64(apart))
		}
		ctx, done := patiently(ctx, c, plan)
		defer done()
		h, other, err = hold.AcquireBoth(ctx, c, asked, second, after)
		if asPlanned(err) {
			err = nil
		}
	}
	if h != nil && byOwner {
		h.Next = &others[c.Together.IntN(len(others))]
	}
	return h, other, err
}

// again ends another hold in the same mode that an owner got because it had lost its first one.
func again(ctx context.Context, h, other *hold.Hold) {
	if other != nil && other.Event.Mode == h.Event.Mode {
		other.Increment(ctx, other.Lease, 0)
		other.ReleaseAll(other.Levels(), cycle.Plan{})
	}
}
