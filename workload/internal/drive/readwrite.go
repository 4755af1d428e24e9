package drive

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/hold"
	"github.com/zkverify/zkverify/workload/lock"
)

var readWriteRecipe = recipe{
	Name:        histories.ReadWrite,
	Description: "any number of readers or one writer; a writer may downgrade",
	spares:      1,
	make:        func(_ *client.Shared, mix cycle.Mix, g *Group) driver { return readWriteDriver{g.spare, mix} },
}

// readWriteDriver reads and writes equally often; readers hold for longer, so that there are
// several at a time. Some writers downgrade: they take the read lock too and release the write
// lock. Some readers ask for the write lock, which is refused.
type readWriteDriver struct {
	spare *spare
	mix   cycle.Mix
}

func (d readWriteDriver) cycle(ctx context.Context, c *client.Client, name string, plan cycle.Plan) error {
	read, write := inMode(c.Target(), histories.ModeRead), inMode(c.Target(), histories.ModeWrite)
	if plan.More.Float64() < relayed {
		return relay(ctx, c, d.spare, plan, func(name string) hold.Claim { return modeClaim(write, name, histories.ModeWrite) })
	}
	mode, mine, other := histories.ModeRead, read, write
	if plan.More.Float64() < d.mix.Write {
		mode, mine, other = histories.ModeWrite, write, read
	} else {
		plan.Hold = inCompany(plan.Hold, c.Run.SessionTimeout)
	}
	crossing := plan.More.Float64() < d.mix.Cross
	h, second, err := getBoth(ctx, c, mine, plan, modeClaim(mine, name, mode),
		modeClaim(read, name, histories.ModeRead), modeClaim(write, name, histories.ModeWrite))
	if h == nil {
		return err
	}
	if h.Event.Mode != mode { // the first call failed
		mine, other = other, mine
	}
	again(ctx, h, second)
	levels := h.Levels()
	h.Again, _ = mine.(lock.Reenterer)
	if second != nil && second.Event.Mode != h.Event.Mode {
		d.useBoth(ctx, h, second, plan, mine, other)
		return nil
	}
	if x, ok := other.(lock.Reenterer); ok && crossing {
		h.Increment(ctx, h.Lease, plan.Race)
		if plan.More.IntN(2) == 0 { // its node may be deleted meanwhile, and the loss must not have been told
			briefly := plan
			briefly.HoldOn = 0
			h.Linger(ctx, levels, briefly)
		}
		if second := cross(ctx, h, x, plan); second != nil {
			d.useBoth(ctx, h, second, plan, mine, other)
			return nil
		}
	} else if r, ok := mine.(lock.Reenterer); ok {
		levels = h.Climb(ctx, r, plan)
	}
	h.Use(ctx, levels, plan)
	h.Finish(ctx, plan, levels)
	return nil
}

// useBoth uses and ends the holds of an owner that has the lock in both modes.
func (readWriteDriver) useBoth(ctx context.Context, h, second *hold.Hold, plan cycle.Plan, mine, other lock.Locker) {
	levels := h.Levels()
	if r, ok := mine.(lock.Reenterer); ok {
		levels = h.Climb(ctx, r, plan)
	}
	h.Increment(ctx, h.Lease, plan.Race) // the owner has both
	h.ReleaseAll(levels, plan)
	second.Again, _ = other.(lock.Reenterer)
	second.Crossed = true
	if second.Event.Mode == histories.ModeRead {
		plan.Hold = inCompany(plan.Hold, h.Client.Run.SessionTimeout) // while writers wait that came before it
	}
	second.Use(ctx, second.Levels(), plan)
	second.Finish(ctx, plan, second.Levels())
}

// cross acquires the lock in its other mode too, through r.
func cross(ctx context.Context, h *hold.Hold, r lock.Reenterer, plan cycle.Plan) *hold.Hold {
	asked := histories.Event{Lock: h.Event.Lock, Mode: histories.ModeRead}
	if h.Event.Mode == histories.ModeRead {
		asked.Mode = histories.ModeWrite
		// A lock that waits for itself must not keep the client.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.Patience)
		defer cancel()
	}
	second, err := hold.Acquire(ctx, h.Client, histories.Acquire, asked, func(ctx context.Context) (lock.Lease, error) {
		return r.Reenter(ctx, h.Event.Lock, h.Lease)
	})
	if err != nil {
		h.IsLost()
		return nil
	}
	return second
}

func (readWriteDriver) recover(ctx context.Context, c *client.Client, name string) bool {
	return getsBoth(ctx, c, histories.Acquire, name)
}

func (readWriteDriver) try(ctx context.Context, c *client.Client, name string) bool {
	return getsBoth(ctx, c, histories.TryAcquire, name)
}

// getsBoth gets the lock in one mode, and then in the other. Every other client
// writes first, so that readers and writers meet in the queue.
func getsBoth(ctx context.Context, c *client.Client, op histories.Op, name string) bool {
	read := func(target lock.Client) hold.Claim {
		return modeClaim(inMode(target, histories.ModeRead), name, histories.ModeRead)
	}
	write := func(target lock.Client) hold.Claim {
		return modeClaim(inMode(target, histories.ModeWrite), name, histories.ModeWrite)
	}
	first, second := read, write
	if c.Index%2 == 1 {
		first, second = write, read
	}
	return gets(ctx, c, op, first) && gets(ctx, c, op, second)
}

func inMode(target lock.Client, mode histories.Mode) lock.Locker {
	return lockerOf(target, histories.ReadWrite, mode)
}

func modeClaim(l lock.Locker, name string, mode histories.Mode) hold.Claim {
	out := hold.ClaimOf(l, name)
	out.Event.Mode = mode
	return out
}
