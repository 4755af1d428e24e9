package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// The scenarios of Curator's own tests of its barriers, with the promises of its documentation as
// the oracle instead of the absence of exceptions:
//
//	TestDistributedBarrier        testServerCrash, testMultiClient, testNoBarrier, testBasic
//	TestDistributedDoubleBarrier  testMultiClient, testOverSubscribed, testBasic

// killEnsemble kills all servers at once.
func killEnsemble(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { startEnsemble(t) })
	for _, s := range serversOf(t).Servers() {
		if err := serversOf(t).Kill(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// startEnsemble starts those servers that do not run.
func startEnsemble(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range serversOf(t).Servers() {
		if !serversOf(t).Running(s.ID) {
			all.Go(func() {
				if err := serversOf(t).Restart(ctx, s.ID); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
}

func TestCuratorBarrierServerCrash(t *testing.T) {
	needReal(t, "servers that are killed come back with what is on their disks")
	// Curator throws. Here the wait continues until ctx ends.
	path := uniquePath(t)
	b := recipes.NewBarrier(connect(t, addrsOf(t)), path)
	does(t, b.Set)
	ctx, cancel := context.WithCancel(within(t))
	bounded, goesOn := going(ctx, b.Wait), going(within(t), b.Wait)
	eventually(t, "they wait", func() bool { return watchesAt(t, path) == 1 })
	killEnsemble(t)
	waits(t, bounded)
	cancel()
	if err := returns(t, bounded); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	waits(t, goesOn)
	startEnsemble(t)
	eventually(t, "the other waits again", func() bool { return watchesAt(t, path) == 1 })
	waits(t, goesOn)
	does(t, b.Remove)
	succeeds(t, goesOn)
}

func TestCuratorBarrierMultiClient(t *testing.T) {
	path := uniquePath(t)
	setter := connect(t, addrsOf(t))
	does(t, recipes.NewBarrier(setter, path).Set)
	does(t, setter.Close) // the barrier stays
	var waiting []<-chan error
	for range 2 {
		waiting = append(waiting, going(within(t), recipes.NewBarrier(connect(t, addrsOf(t)), path).Wait))
	}
	eventually(t, "both wait", func() bool { return watchesAt(t, path) == 2 })
	for _, w := range waiting {
		waits(t, w)
	}
	remover := connect(t, addrsOf(t))
	does(t, recipes.NewBarrier(remover, path).Remove)
	does(t, remover.Close)
	for _, w := range waiting {
		succeeds(t, w)
	}
}

func TestCuratorBarrierNoBarrier(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	b := recipes.NewBarrier(connect(t, addrsOf(t)), path)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := b.Wait(ctx); err != nil {
		t.Error(err)
	}
	if err := returns(t, going(t.Context(), b.Wait)); err != nil { // without a bound
		t.Error(err)
	}
	if exists(t, conn, path) {
		t.Error("waiting has put up a barrier")
	}
	noWatchAt(t, path)
}

func TestCuratorBarrierBasic(t *testing.T) {
	path := uniquePath(t)
	b := recipes.NewBarrier(connect(t, addrsOf(t)), path) // one value sets, waits and removes
	does(t, b.Set)
	waiting := going(within(t), b.Wait)
	eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
	waits(t, waiting)
	does(t, b.Remove)
	succeeds(t, waiting)
}

// gathering counts the members inside.
type gathering struct {
	mu        sync.Mutex
	now, most int
}

func (g *gathering) change(by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now += by
	g.most = max(g.most, g.now)
}

func (g *gathering) counts() (now, most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now, g.most
}

// gather takes each member through one round, and checks that all of them were
// inside at the same time, and that no member returned from Leave before the last one left.
func gather(t *testing.T, all []*recipes.DoubleBarrier) {
	t.Helper()
	var inside, leaving gathering
	entered, leaves := make(chan struct{}, len(all)), make(chan struct{}, len(all))
	goOn := make(chan struct{})
	done := make(chan error, len(all))
	ctx := within(t)
	for i, b := range all {
		go func() {
			done <- func() error {
				if err := b.Enter(ctx); err != nil {
					return err
				}
				inside.change(1)
				entered <- struct{}{}
				<-goOn
				if i == 0 { // the last to leave
					for range len(all) - 1 {
						<-leaves
					}
				}
				inside.change(-1)
				leaving.change(1)
				leaves <- struct{}{}
				if err := b.Leave(ctx); err != nil {
					return err
				}
				if now, _ := leaving.counts(); now != len(all) {
					return fmt.Errorf("let go when %d of %d were leaving", now, len(all))
				}
				return nil
			}()
		}()
	}
	for range all {
		select {
		case <-entered:
		case err := <-done:
			t.Fatal(err)
		case <-time.After(patient):
			t.Fatal("not all enter")
		}
	}
	close(goOn)
	for range all {
		succeeds(t, done)
	}
	if now, most := inside.counts(); now != 0 || most != len(all) {
		t.Errorf("%d inside, at most %d", now, most)
	}
}

const curatorsQuantity = 5

func TestCuratorDoubleBarrierMultiClient(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	var all []*recipes.DoubleBarrier
	for range curatorsQuantity {
		all = append(all, recipes.NewDoubleBarrier(connect(t, addrsOf(t)), path, curatorsQuantity))
	}
	gather(t, all)
	nothingLeft(t, conn, path)
}

func TestCuratorDoubleBarrierOverSubscribed(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	// All members have arrived before any of them counts. They share a connection, so a member
	// that waits to count must not keep the others from arriving.
	var wire intercept
	come := make(chan struct{})
	wire.holdBack(opChildren, come)
	go func() { // ends before the members do
		defer close(come)
		awaitMembers(t, conn, path, curatorsQuantity+1)
	}()
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(20*time.Second))
	var all []*recipes.DoubleBarrier
	for range curatorsQuantity + 1 {
		all = append(all, recipes.NewDoubleBarrier(c, path, curatorsQuantity))
	}
	gather(t, all)
	nothingLeft(t, conn, path)
}

func TestCuratorDoubleBarrierBasic(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	c := connect(t, addrsOf(t))
	var all []*recipes.DoubleBarrier
	for range curatorsQuantity {
		all = append(all, recipes.NewDoubleBarrier(c, path, curatorsQuantity))
	}
	for range 3 {
		gather(t, all)
		nothingLeft(t, conn, path)
	}
}
