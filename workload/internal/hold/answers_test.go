package hold

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/internal/servers"
	"github.com/zkverify/zkverify/workload/lock"
)

// A lock of several whose node was deleted ends the whole hold. A lease of another of them that
// was acquired once more stays as good as before, until it is released.
func TestOfSeveralLocksThoseAreAskedThatAreLost(t *testing.T) {
	both := histories.Event{Type: histories.OK, Op: histories.Acquire, Depth: 1, Parts: []histories.Part{{Lock: "a"}, {Lock: "b"}}}
	for name, lost := range map[string]bool{"its own is lost": true, "another is lost": false} {
		t.Run(name, func(t *testing.T) {
			h, record := heldInMemory(t, both)
			h.Client.Run.Promises.Says = true
			close(h.Lease.(*guarding).lost)
			if !h.IsLost() {
				t.Fatal("it is not lost")
			}
			again := &fakeLease{lost: make(chan struct{})}
			if lost {
				close(again.lost)
			}
			h.answers().askLost(partLease{again, "a"})
			var says []histories.Event
			for _, e := range record() {
				if e.Type == histories.Says {
					says = append(says, e)
				}
			}
			if len(says) != 1 || *says[0].Saying.Valid || lost != (says[0].Lock == "a") {
				t.Errorf("on record: %+v", says)
			}
		})
	}
}

// knowing is a target, and a client of it, that says that it holds every lock.
type knowing struct {
	lock.Target
	lock.Client
}

func (k *knowing) Open(context.Context, lock.Env) (lock.Client, error) { return k, nil }
func (*knowing) Conn() *zk.Conn                                        { return nil }
func (*knowing) Close(context.Context) error                           { return nil }
func (*knowing) Held(string) bool                                      { return true }

// invoke tells the run's coverage that a client begins an operation.
func invoke(c *client.Client, op histories.Op) {
	c.Faults.Step(&histories.Event{Type: histories.Invoke, Process: c.Current(), Op: op, Lock: "lock-0", Depth: 1})
}

// The client may hold a lock for a sibling, in its next session too.
func TestAClientIsNotAskedWhatItHoldsWhileASiblingMayHoldIt(t *testing.T) {
	for name, c := range map[string]struct {
		sibling func(*client.Client)
		asked   bool
	}{
		"idle":     {func(*client.Client) {}, true},
		"waiting":  {func(c *client.Client) { invoke(c, histories.Acquire) }, false},
		"holding":  {func(c *client.Client) { c.AddHold(new(journal.Holding)) }, false},
		"to leave": {func(c *client.Client) { invoke(c, histories.Release) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			locks := map[string]histories.Lock{"lock-0": {Recipe: histories.Mutex}}
			r := &client.Shared{Clients: 2, Target: new(knowing), Locks: locks, Faults: journal.NewCoverage(nil, nil), Observer: new(servers.Observer)}
			asked, sibling := client.New(r, 0), client.New(r, 1)
			sibling.Joins(asked)
			if err := asked.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.sibling(sibling)
			if held := saysFree(asked, "lock-0", ""); (held != nil) != c.asked {
				t.Errorf("it was asked: %v", held != nil)
			}
		})
	}
}

// A client is asked whether it also holds another lock of the same recipe.
func TestAnotherLockOfTheRecipe(t *testing.T) {
	locks := map[string]histories.Lock{
		"a": {Recipe: histories.NonReentrant}, "lock-0": {Recipe: histories.Mutex}, "lock-1": {Recipe: histories.Mutex},
	}
	for name, want := range map[string]string{"lock-1": "lock-0", "lock-0": "lock-1", "a": "", "": "", "none": ""} {
		if got := another(locks, name); got != want {
			t.Errorf("besides %q: %q, want %q", name, got, want)
		}
	}
}
