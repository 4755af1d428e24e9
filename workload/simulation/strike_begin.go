package simulation

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
)

// watch waits until the client begins the step, and reports whether it does; it has the links struck at the
// message, which gives hit. The end of the step gives over, until stop is called.
func (k *strike) watch(ctx context.Context, over, hit *signal) (began bool, stop func()) {
	begun, clients := newSignal(), len(k.scene.Everyone)
	k.queue.begin(k.scene.World.Clients())
	var on atomic.Bool // the step has begun; begun waits for the contenders too
	begin := func() {
		if begun.give() {
			k.arm(ctx, k.message, k.act, hit)
			k.mu.Lock()
			defer k.mu.Unlock()
			k.again = func() { k.arm(ctx, k.message, k.act, hit) }
		}
	}
	if k.step == "" {
		begin()
		return true, func() {}
	}
	stop = k.world.Hear(func(e *histories.Event) {
		if e.Process < 0 {
			return
		}
		client := e.Process % clients
		mine := client == k.client.Index
		k.queue.note(client, e)
		switch {
		case mine && begins(k.step, e), k.step == stepTurn && k.turns(e, mine):
			if k.fits() {
				begin()
			}
			on.Store(k.step == stepHold || k.step == stepQueued)
		case mine && ends(k.step, e):
			on.Store(false)
			if begun.is() {
				over.give()
			}
		case on.Load() && k.fits():
			begin()
		}
	})
	wait.ForOr(ctx, k.patience, begun.given)
	return begun.is(), stop
}

// fits reports whether as many clients wait ahead of the client and behind it as the strike wants: none, or
// that many and more. Behind one that has no place yet is none.
func (k *strike) fits() bool {
	if k.ahead < 0 {
		return true
	}
	ahead, behind, known := k.queue.around(k.client.Index)
	if k.step == stepTurn {
		ahead-- // the one that releases
	}
	fit := func(n, want int) bool { return n == want || want > 0 && n > want }
	return known && fit(ahead, k.ahead) && (k.step == stepAcquire || fit(behind, k.behind))
}

// settled bounds the time in which a client lists the queue and watches the node ahead.
const settled = 10 * time.Millisecond

// settles waits until a client that knows its place watches the node ahead, and reports whether it still
// waits then.
func (k *strike) settles(ctx context.Context, over *signal) bool {
	wait.ForOr(ctx, settled, over.given)
	return !over.is() && ctx.Err() == nil
}

// goOn carries out the next strike, beside what the act of this one has begun.
func (k *strike) goOn(ctx context.Context) error {
	var wg sync.WaitGroup
	var err error
	wg.Go(func() { err = k.next.start(ctx) })
	if !isCut(k.act) && k.act != pauseAct {
		wg.Wait()
		return err
	}
	wait.For(ctx, k.length)
	same := k.next.client.Index == k.client.Index
	var healed error
	if !same || k.next.struck.Load() == 0 || !isCut(k.next.act) { // else the next one heals the links
		healed = k.heal(ctx)
	}
	if k.next.mu.Lock(); same && k.next.again != nil && k.next.at != "" && k.next.struck.Load() == 0 {
		k.next.again()
	}
	k.next.mu.Unlock()
	wg.Wait()
	return errors.Join(err, healed)
}
