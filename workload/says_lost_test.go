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
