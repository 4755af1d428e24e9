package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
)

// ReadWriteLocker is implemented by clients that offer a read/write lock. If
// read is a [Reenterer], its Reenter also takes a lease of write: a downgrade.
// If write is one, its Reenter also takes a lease of read: an upgrade, which
// must be refused at once.
type ReadWriteLocker interface {
	ReadWrite() (read, write Locker)
}

var readWriteRecipe = RecipeInfo{
	Recipe:      histories.ReadWrite,
	Description: "any number of readers or one writer; a writer may downgrade",
	offered:     func(c Client) bool { _, ok := c.(ReadWriteLocker); return ok },
	spares:      1,
	make:        func(r *run) driver { return readWriteDriver{r.spare(histories.ReadWrite)} },
}

// readWriteDriver reads and writes as often; readers take longer, so that there
// are several. Some writers downgrade: they take
// the read lock too and give up the write lock. Some readers ask for the write
// lock, in vain.
type readWriteDriver struct{ spare *spare }

func (d readWriteDriver) cycle(ctx context.Context, c *client, lock string, plan cycle) error {
	read, write := c.client().(ReadWriteLocker).ReadWrite()
	if plan.more.Float64() < relayed {
		return c.relay(ctx, d.spare, plan, func(lock string) claim { return modeClaim(write, lock, histories.ModeWrite) })
	}
	mode, mine, other := histories.ModeRead, read, write
	if plan.more.Float64() < c.run.cfg.Mix.Write {
		mode, mine, other = histories.ModeWrite, write, read
	} else {
		plan.hold *= company
	}
	crossing := plan.more.Float64() < c.run.cfg.Mix.Cross
	h, err := c.get(ctx, plan, modeClaim(mine, lock, mode))
	if h == nil {
		return err
	}
	levels := []Lease{h.lease}
	h.again, _ = mine.(Reenterer)
	if x, ok := other.(Reenterer); ok && crossing {
		h.increment(ctx, h.lease, plan.race)
		if second := h.cross(ctx, x, plan); second != nil {
			h.increment(ctx, h.lease, plan.race) // it has both
			h.releaseAll(levels, plan)
			second.again = x
			if second.event.Mode == histories.ModeRead {
				plan.hold *= company // while writers wait that came before it
			}
			second.use(ctx, []Lease{second.lease}, plan)
			second.finish(ctx, plan, []Lease{second.lease})
			return nil
		}
	} else if r, ok := mine.(Reenterer); ok {
		levels = h.climb(ctx, r, plan)
	}
	h.use(ctx, levels, plan)
	h.finish(ctx, plan, levels)
	return nil
}

// cross takes the lock in its other mode too, by way of r.
func (h *hold) cross(ctx context.Context, r Reenterer, plan cycle) *hold {
	asked := histories.Event{Lock: h.event.Lock, Mode: histories.ModeRead}
	if h.event.Mode == histories.ModeRead {
		asked.Mode = histories.ModeWrite
		// A lock that waits for itself must not keep the client.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, plan.patience)
		defer cancel()
	}
	second, err := h.c.acquire(ctx, histories.Acquire, asked, func(ctx context.Context) (Lease, error) {
		return r.Reenter(ctx, h.event.Lock, h.lease)
	})
	if err != nil {
		h.isLost()
		return nil
	}
	return second
}

func (readWriteDriver) recover(ctx context.Context, c *client, lock string) bool {
	return c.getsBoth(ctx, histories.Acquire, lock)
}

func (readWriteDriver) try(ctx context.Context, c *client, lock string) bool {
	return c.getsBoth(ctx, histories.TryAcquire, lock)
}

// getsBoth gets the lock in one mode, and then in the other. Every other client
// writes first, so that readers and writers meet in the queue.
func (c *client) getsBoth(ctx context.Context, op histories.Op, lock string) bool {
	read := func(target Client) claim {
		read, _ := target.(ReadWriteLocker).ReadWrite()
		return modeClaim(read, lock, histories.ModeRead)
	}
	write := func(target Client) claim {
		_, write := target.(ReadWriteLocker).ReadWrite()
		return modeClaim(write, lock, histories.ModeWrite)
	}
	first, second := read, write
	if c.index%2 == 1 {
		first, second = write, read
	}
	return c.gets(ctx, op, first) && c.gets(ctx, op, second)
}

func modeClaim(l Locker, lock string, mode histories.Mode) claim {
	out := claimOf(l, lock)
	out.event.Mode = mode
	return out
}
