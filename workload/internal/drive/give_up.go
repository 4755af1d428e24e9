package drive

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/seeded"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// waiter is implemented by drivers whose waits are no acquires. When all clients are done, each
// waits for a lock that is not granted and gives up, before nodes and watches are counted. A
// wait that is cancelled must leave neither a watch nor a goroutine, and recovery cancels no
// wait.
type waiter interface {
	// waitInVain waits for the lock, which is not granted, until the context of moment ends.
	waitInVain(c *client.Client, name string, moment func() (context.Context, context.CancelFunc))
	// block keeps waiters from passing, and returns a function that undoes that.
	block(ctx context.Context, c *client.Client, name string) (undo func())
}

// Each client gives up vainWaits times, after vainFor each: without faults a request takes
// less.
const (
	vainWaits = 2
	vainFor   = 40 * time.Millisecond
)

// asker is implemented by drivers that ask for locks at which no other call creates a node: at others
// the next acquire uses the parents that a call before it has left.
type asker interface {
	// askInVain asks for locks with these names until ctx ends, and gives back what it gets.
	askInVain(ctx context.Context, c *client.Client, names []string)
}

// Each recipe is asked vainAsks times for locks of names of their own. An acquire there creates its
// parents by its second request and the next, so its context ends within vainRequests requests.
const (
	vainAsks     = 8
	vainRequests = 3.2
)

// AskInVain has one client after the other ask for locks at which no other call creates a node, and
// give up while it creates their parents. It waits for idle after each ask, in which the client takes
// these back. Nothing of it is recorded.
func (d *Drivers) AskInVain(ctx context.Context, clients []*client.Client, idle time.Duration) {
	when := seeded.Rand(uint64(d.run.Seed), 1<<35)
	for _, g := range d.Groups {
		a, ok := g.driver.(asker)
		if !ok {
			continue
		}
		name := "unused-" + string(g.Name)
		for i := range vainAsks {
			c, share := clients[i%len(clients)], when.Float64()
			if took := c.Write(); took > 0 {
				asked, cancel := context.WithTimeout(ctx, time.Duration(share*vainRequests*float64(took)))
				a.askInVain(asked, c, numbered(name, 2))
				cancel()
			}
			wait.For(ctx, idle)
		}
	}
}

func (d mutexDriver) askInVain(ctx context.Context, c *client.Client, names []string) {
	target := c.Target()
	if target == nil || histories.Recipe(d.oneByOne) != histories.Mutex {
		return
	}
	if lease, err := target.Acquire(ctx, names[0]); err == nil {
		_ = lease.Release(c.Run.Life)
	}
}

func (d multiLockDriver) askInVain(ctx context.Context, c *client.Client, names []string) {
	target, ok := c.Target().(lock.MultiLocker)
	if !ok {
		return // the client has ended meanwhile
	}
	if lease, err := target.AcquireAll(ctx, names); err == nil {
		_ = lease.Release(c.Run.Life)
	}
}

// giveUps lets every open client wait and give up, one recipe after the other.
func (d *Drivers) giveUps(ctx context.Context, clients []*client.Client) {
	var open []*client.Client
	for _, c := range clients {
		if c.Target() != nil {
			open = append(open, c)
		}
	}
	moment := func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, vainFor) }
	for _, g := range d.Groups {
		w, ok := g.driver.(waiter)
		if !ok || len(open) == 0 {
			continue
		}
		name := g.all()[0]
		undo := w.block(ctx, open[0], name)
		var all sync.WaitGroup
		for _, c := range open {
			all.Go(func() { // ends when the client has given up each time
				for range vainWaits {
					w.waitInVain(c, name, moment)
				}
			})
		}
		all.Wait()
		undo()
	}
}

func (barrierDriver) block(ctx context.Context, c *client.Client, name string) (undo func()) {
	target, ok := c.Target().(lock.BarrierClient)
	if !ok {
		return func() {} // the client has ended meanwhile
	}
	_ = target.SetBarrier(ctx, name) // after an error no client waits, and no node is left
	return func() { _ = target.RemoveBarrier(ctx, name) }
}

func (barrierDriver) waitInVain(c *client.Client, name string, moment func() (context.Context, context.CancelFunc)) {
	if target, ok := c.Target().(lock.BarrierClient); ok {
		ctx, cancel := moment()
		defer cancel()
		_ = target.WaitBarrier(ctx, name)
	}
}

// block keeps members apart: too few of them come at the same time.
func (d *doubleBarrierDriver) block(context.Context, *client.Client, string) (undo func()) {
	return func() {}
}

func (d *doubleBarrierDriver) waitInVain(c *client.Client, name string, moment func() (context.Context, context.CancelFunc)) {
	target, ok := c.Target().(lock.DoubleBarrierClient)
	if !ok {
		return
	}
	d.alone <- struct{}{}
	defer func() { <-d.alone }()
	ctx, cancel := moment()
	member, err := target.EnterBarrier(ctx, name)
	cancel()
	if err != nil {
		return
	}
	// The member was let in with those that had given up, which the recipe permits.
	ctx, cancel = moment()
	defer cancel()
	_ = member.Leave(ctx)
}

// Settle settles every lock that must be settled, through a client that is open.
func (d *Drivers) Settle(ctx context.Context, clients []*client.Client) {
	d.giveUps(ctx, clients)
	for _, g := range d.Groups {
		s, ok := g.driver.(settler)
		if !ok {
			continue
		}
		for _, name := range g.all() {
			if i := slices.IndexFunc(clients, func(c *client.Client) bool { return c.Target() != nil }); i >= 0 {
				s.settle(ctx, clients[i], name)
			}
		}
	}
}
