package workload

import (
	"testing"

	"github.com/zkverify/zkverify/histories"
)

// A lock of several whose node was deleted takes the whole hold with it. What was
// acquired once more of another of them is as good as before, until it is given back.
func TestOfSeveralLocksThoseAreAskedThatAreLost(t *testing.T) {
	both := histories.Event{Type: histories.OK, Op: histories.Acquire, Depth: 1, Parts: []histories.Part{{Lock: "a"}, {Lock: "b"}}}
	for name, lost := range map[string]bool{"its own is lost": true, "another is lost": false} {
		t.Run(name, func(t *testing.T) {
			h, record := heldInMemory(t, both)
			h.c.run.promises.Says = true
			close(h.lease.(*guarding).lost)
			if !h.isLost() {
				t.Fatal("it is not lost")
			}
			again := &memoryLease{lost: make(chan struct{})}
			if lost {
				close(again.lost)
			}
			h.askLost(partLease{again, "a"})
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

// knowing is a client whose target says that it holds every lock.
type knowing struct{ sharing }

func (*knowing) Held(string) bool { return true }

// The client may hold a lock in the name of a sibling, in its next session too.
func TestAClientIsNotAskedWhatItHoldsWhileASiblingMayHoldIt(t *testing.T) {
	for name, c := range map[string]struct {
		sibling func(*client)
		asked   bool
	}{
		"idle":     {func(*client) {}, true},
		"waiting":  {func(c *client) { c.waiting = true }, false},
		"holding":  {func(c *client) { c.held = []*hold{{}} }, false},
		"to leave": {func(c *client) { c.releasing = true }, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, _, _ := couple(t)
			a.target, a.run.locks = &knowing{}, map[string]histories.Lock{"lock-0": {Recipe: histories.Mutex}}
			c.sibling(b)
			if held := a.saysFree("lock-0", ""); (held != nil) != c.asked {
				t.Errorf("it was asked: %v", held != nil)
			}
		})
	}
}
