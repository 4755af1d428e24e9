package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

var readWriteRecipe = RecipeInfo{
	Recipe:      histories.ReadWrite,
	Description: "any number of readers or one writer; a writer may downgrade",
	spares:      1,
	make:        func(r *run) driver { return readWriteDriver{r.spare(histories.ReadWrite)} },
}

// readWriteDriver reads and writes as often; readers take longer, so that there
// are several. Some writers downgrade: they take
// the read lock too and give up the write lock. Some readers ask for the write
// lock, in vain.
type readWriteDriver struct{ spare *spare }

func (d readWriteDriver) cycle(ctx context.Context, c *client, name string, plan cycle) error {
	read, write := c.client().(lock.ReadWriteLocker).ReadWrite()
	if plan.more.Float64() < relayed {
		return c.relay(ctx, d.spare, plan, func(name string) claim { return modeClaim(write, name, histories.ModeWrite) })
	}
	mode, mine, other := histories.ModeRead, read, write
	if plan.more.Float64() < c.run.cfg.Mix.Write {
		mode, mine, other = histories.ModeWrite, write, read
	} else {
		plan.hold *= company
	}
	crossing := plan.more.Float64() < c.run.cfg.Mix.Cross
	h, err := c.get(ctx, plan, modeClaim(mine, name, mode))
	if h == nil {
		return err
	}
	levels := []lock.Lease{h.lease}
	h.again, _ = mine.(lock.Reenterer)
	if x, ok := other.(lock.Reenterer); ok && crossing {
		h.increment(ctx, h.lease, plan.race)
		if second := h.cross(ctx, x, plan); second != nil {
			h.increment(ctx, h.lease, plan.race) // it has both
			h.releaseAll(levels, plan)
			second.again = x
			if second.event.Mode == histories.ModeRead {
				plan.hold *= company // while writers wait that came before it
			}
			second.use(ctx, []lock.Lease{second.lease}, plan)
			second.finish(ctx, plan, []lock.Lease{second.lease})
			return nil
		}
	} else if r, ok := mine.(lock.Reenterer); ok {
		levels = h.climb(ctx, r, plan)
	}
	h.use(ctx, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

// cross takes the lock in its other mode too, by way of r.
func (h *hold) cross(ctx context.Context, r lock.Reenterer, plan cycle) *hold {
	asked := histories.Event{Lock: h.event.Lock, Mode: histories.ModeRead}
	if h.event.Mode == histories.ModeRead {
		asked.Mode = histories.ModeWrite
		// A lock that waits for itself must not keep the client.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.patience)
		defer cancel()
	}
	second, err := h.c.acquire(ctx, histories.Acquire, asked, func(ctx context.Context) (lock.Lease, error) {
		return r.Reenter(ctx, h.event.Lock, h.lease)
	})
	if err != nil {
		h.isLost()
		return nil
	}
	return second
}

func (readWriteDriver) recover(ctx context.Context, c *client, name string) bool {
	return c.getsBoth(ctx, histories.Acquire, name)
}

func (readWriteDriver) try(ctx context.Context, c *client, name string) bool {
	return c.getsBoth(ctx, histories.TryAcquire, name)
}

// getsBoth gets the lock in one mode, and then in the other. Every other client
// writes first, so that readers and writers meet in the queue.
func (c *client) getsBoth(ctx context.Context, op histories.Op, name string) bool {
	read := func(target lock.Client) claim {
		read, _ := target.(lock.ReadWriteLocker).ReadWrite()
		return modeClaim(read, name, histories.ModeRead)
	}
	write := func(target lock.Client) claim {
		_, write := target.(lock.ReadWriteLocker).ReadWrite()
		return modeClaim(write, name, histories.ModeWrite)
	}
	first, second := read, write
	if c.index%2 == 1 {
		first, second = write, read
	}
	return c.gets(ctx, op, first) && c.gets(ctx, op, second)
}

func modeClaim(l lock.Locker, name string, mode histories.Mode) claim {
	out := claimOf(l, name)
	out.event.Mode = mode
	return out
}
