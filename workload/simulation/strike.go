package simulation

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

// The steps whose messages are counted. Each begins with the call of an operation and ends with its
// answer, except stepTurn, which begins when another client calls the release of a lock that the client
// waits for, stepHold, which lasts from the grant to the call of the release, stepTold, which begins
// when a holder is told of a request to release, and stepQueued, of the plan spec alone, which begins
// when the client knows its place in the queue.
const (
	stepAcquire = "acquire"
	stepTurn    = "turn"
	stepHold    = "hold"
	stepRelease = "release"
	stepEnter   = "enter"
	stepLeave   = "leave"
	stepWait    = "wait"
	stepSet     = "set"
	stepObserve = "observe"
	stepResize  = "set-size"
	stepTold    = "told"
	stepQueued  = "queued"
)

var steps = []string{stepAcquire, stepTurn, stepHold, stepRelease, stepEnter, stepLeave, stepWait, stepSet, stepObserve, stepResize, stepTold}

// stepsOf returns the steps of a recipe.
func stepsOf(r histories.Recipe) []string {
	switch r {
	case histories.Barrier:
		return []string{stepWait, stepSet}
	case histories.DoubleBarrier:
		return []string{stepEnter, stepLeave}
	case histories.Election:
		return []string{stepAcquire, stepTurn, stepHold, stepTold, stepRelease, stepObserve}
	case histories.Revocation:
		return []string{stepAcquire, stepTurn, stepHold, stepTold, stepRelease}
	case histories.SharedSemaphore:
		return []string{stepAcquire, stepTurn, stepHold, stepRelease, stepResize}
	}
	return []string{stepAcquire, stepTurn, stepHold, stepRelease}
}

// aimAt returns the state of the clients that are the likeliest to begin a step soon.
func aimAt(step string) fault.Aim {
	switch step {
	case stepTurn, stepHold, stepQueued:
		return fault.AtWaiter
	case stepRelease, stepTold:
		return fault.AtHolder
	}
	return fault.AtAnyone
}

// begins reports whether an event of a client begins a step.
func begins(step string, e *histories.Event) bool {
	acquires := e.Op == histories.Acquire || e.Op == histories.TryAcquire
	switch step {
	case stepTurn:
		return false // it begins with an event of another client
	case stepAcquire:
		return e.Type == histories.Invoke && acquires
	case stepHold:
		return e.Type == histories.OK && acquires
	case stepTold:
		return e.Type == histories.RevokeRequested
	case stepQueued:
		return e.Type == histories.Enqueued
	case stepSet:
		return e.Type == histories.Invoke && (e.Op == histories.Set || e.Op == histories.Remove)
	}
	return e.Type == histories.Invoke && string(e.Op) == step
}

// ends reports whether an event of a client ends a step that has begun.
func ends(step string, e *histories.Event) bool {
	if e.Type == histories.Crash {
		return true
	}
	if step == stepHold || step == stepTold {
		return e.Type == histories.Invoke && e.Op == histories.Release || e.Type == histories.Lost
	}
	return (e.Type == histories.OK || e.Type == histories.Fail || e.Type == histories.Info) && e.Op != histories.Read && e.Op != histories.Write
}

// strike is an at-message that is carried out.
type strike struct {
	scene  fault.Scene
	world  fault.Searcher
	client fault.Client
	cut    []messageLink // that a cut hits
	all    []messageLink
	linked []messageLink // that the client uses
	hit    []int         // the clients that a cut or a pause hits

	step           string
	message, after int
	act, then      string
	since          string
	length, lasts  time.Duration   // of the acts
	mu             sync.Mutex      // guards waits
	waits          map[string]bool // the locks for which the client waits, in stepTurn
	struck         atomic.Int32    // acts that took place
	paused         atomic.Bool

	at              string        // the message at which it acts, see moment; "": message
	patience, limit time.Duration // how long it waits for the step, and from then on for the message
	ahead, behind   int           // the contenders that it wants ahead of the client and behind it; ahead < 0: any
	queue           queue
	next            *strike // begins when this one has acted
	again           func()  // strikes the links again, once the step has begun; guarded by mu
}

// start waits until the client begins the step, and acts at its messages. If the step is over
// before, nothing happens.
func (k *strike) start(ctx context.Context) error {
	t := k.scene.SessionTimeout()
	over, hit := newSignal(), newSignal()
	began, stop := k.watch(ctx, over, hit)
	defer stop()
	if !began {
		return nil
	}
	select {
	case <-hit.given:
	case <-over.given:
		return k.heal(ctx)
	case <-time.After(k.limit):
		return k.heal(ctx)
	case <-ctx.Done():
		return nil
	}
	if k.step == stepQueued && !k.settles(ctx, over) {
		return nil
	}
	k.carryOut(ctx, k.act, k.message)
	if k.next != nil {
		return k.goOn(ctx)
	}
	next := newSignal()
	if k.then != "" && k.since == sinceFirst {
		k.arm(ctx, k.after, k.then, next)
	}
	if isCut(k.act) || k.act == pauseAct {
		k.await(ctx, k.length, next)
		if err := k.heal(ctx); err != nil {
			return err
		}
	} else if k.then != "" {
		k.await(ctx, t/4, next)
	}
	if k.then == "" || next.is() {
		return nil
	}
	if k.since == sinceHealed {
		k.arm(ctx, k.after, k.then, next)
		k.await(ctx, t/2, next)
	}
	return nil
}

// turns reports whether an event begins a stepTurn, and notes for which locks the client waits.
func (k *strike) turns(e *histories.Event, mine bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := []string{e.Lock}
	for _, p := range e.Parts {
		of = append(of, p.Lock)
	}
	acquires := e.Op == histories.Acquire || e.Op == histories.TryAcquire
	switch {
	case mine && e.Type == histories.Invoke && acquires:
		k.waits = map[string]bool{}
		for _, lock := range of {
			k.waits[lock] = true
		}
	case mine && (e.Type == histories.Crash || acquires && e.Type != histories.Enqueued):
		k.waits = nil
	}
	return !mine && e.Type == histories.Invoke && e.Op == histories.Release && slices.ContainsFunc(of, func(lock string) bool { return k.waits[lock] })
}

// await waits for d. If the message of the second act comes meanwhile, it acts.
func (k *strike) await(ctx context.Context, d time.Duration, next *signal) {
	until := time.Now().Add(d)
	if k.then != "" {
		select {
		case <-next.given:
			k.carryOut(ctx, k.then, k.after)
			if isCut(k.then) || k.then == pauseAct {
				until = time.Now().Add(max(time.Until(until), k.lasts))
			}
		case <-time.After(d):
			return
		case <-ctx.Done():
			return
		}
	}
	wait.For(ctx, time.Until(until))
}

// arm has the links cut at a message, or the process paused, and hit given: acts of other sorts, and
// all acts at message 0, which is now, are carried out by carryOut at that instant.
func (k *strike) arm(ctx context.Context, message int, act string, hit *signal) {
	if message == 0 && k.at == "" {
		hit.give()
		return
	}
	cut := links.Cut("")
	if isCut(act) {
		cut = links.Cut(act)
	}
	for _, l := range k.all {
		of := cut
		if !slices.Contains(k.cut, l) {
			of = ""
		}
		at := moment(k.at, message)
		if act == holdBackAct && k.at == "" {
			at = changes(1 + message%lateWrites)
		}
		_ = l.StrikeAt(ctx, at, of, func() { // it fails only when the run is over
			if act == pauseAct {
				_ = k.scene.World.(fault.Workers).Pause(ctx, k.client.Worker)
				k.paused.Store(true)
			}
			hit.give()
		})
	}
}

// carryOut carries out an act that no link has carried out at its message.
func (k *strike) carryOut(ctx context.Context, act string, message int) {
	var err error
	switch act {
	case pauseAct:
		if message == 0 && k.at == "" {
			err = k.scene.World.(fault.Workers).Pause(ctx, k.client.Worker)
			k.paused.Store(true)
		}
	case cancelAct:
		k.world.Cancel(k.client.Index)
	case crashAct:
		k.world.Crash(k.client.Index)
	case expireAct:
		err = k.other(ctx, act, k.client.Index)
	case deleteAct:
		hit := []int{k.client.Index}
		if k.scene.Pick.Draw%2 == 0 && k.client.Together != nil {
			hit = k.client.Together // one node of each, at once
		}
		for _, client := range hit {
			err = errors.Join(err, k.other(ctx, act, client))
		}
	default:
		for _, l := range k.cut {
			if message == 0 && k.at == "" {
				err = errors.Join(err, l.Cut(ctx, links.Cut(act)))
			}
		}
	}
	if isCut(act) || act == pauseAct {
		for _, client := range k.hit {
			k.world.Hit(client)
		}
	}
	if err == nil {
		k.struck.Add(1)
	}
}

// other carries out another fault on a client.
func (k *strike) other(ctx context.Context, name string, client int) error {
	kind, err := faults.List().Named(name)
	if err != nil {
		return err
	}
	f, err := kind.Make(fault.NewScene(k.scene.World, name, fault.Pick{Client: &client, Draw: k.scene.Pick.Draw}, nil, false))
	if err != nil {
		return err
	}
	if !slices.Contains(f.Clients, client) {
		return errors.New("at-message: the client has no session")
	}
	return k.world.Strike(ctx, f)
}

func (k *strike) heal(ctx context.Context) error {
	err := fault.Each(ctx, k.client.AllLinks(), func(ctx context.Context, l links.Link) error { return l.Heal(ctx) })
	if k.paused.Swap(false) {
		err = errors.Join(err, k.scene.World.(fault.Workers).Resume(k.client.Worker))
	}
	return err
}

// stop heals what is left.
func (k *strike) stop(ctx context.Context) error {
	if k.next != nil {
		return errors.Join(k.heal(ctx), k.next.heal(ctx))
	}
	return k.heal(ctx)
}

func (k *strike) came() map[string]string {
	n := k.struck.Load()
	if k.next != nil {
		n += k.next.struck.Load()
	}
	return map[string]string{struckParam: strconv.Itoa(int(n))}
}

func isCut(act string) bool {
	return act == holdBackAct || slices.Contains(links.Cuts(), links.Cut(act))
}

// signal is given once.
type signal struct {
	given chan struct{}
	once  sync.Once
}

func newSignal() *signal { return &signal{given: make(chan struct{})} }

// give reports whether the signal had not been given before.
func (s *signal) give() (first bool) {
	s.once.Do(func() {
		close(s.given)
		first = true
	})
	return first
}

func (s *signal) is() bool {
	select {
	case <-s.given:
		return true
	default:
		return false
	}
}
