package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// neverEmpty is a record of a lock for which two contenders ask by turns, each before the other
// releases it: n nodes, of which one stands at any time.
func neverEmpty(n int) (steps []Step) {
	at := func(k int, kind Kind) Step {
		return Step{Kind: kind, Lock: "l", Process: k % 2, Session: []string{"a", "b"}[k%2], Node: int64(10 + k)}
	}
	give := func(k int) {
		release, released, gone := at(k, Release), at(k, Released), at(k, Delete)
		release.Node, released.Node, gone.Process = 0, 0, -1
		steps = append(steps, release, gone, released)
	}
	for k := range 2 {
		steps = append(steps, Step{Kind: Session, Process: -1, Session: at(k, "").Session, Clients: []int{k}})
	}
	for k := range n {
		asks, create := at(k, Acquire), at(k, Create)
		asks.Nodes, asks.Node, asks.Granted, create.Process = []int64{asks.Node}, 0, true, -1
		steps = append(steps, asks, create)
		if k > 0 {
			give(k - 1)
		}
		steps = append(steps, at(k, Grant))
	}
	give(n - 1)
	return steps
}

// Of a queue that is never empty the model has room for the first nodes. What follows is decided too,
// from a state that has the nodes which stand, their beliefs and releases.
func TestAQueueThatIsNeverEmptyIsHeldToTheModel(t *testing.T) {
	v, steps := validator(t), neverEmpty(70)
	if r := validate(t, v, steps); len(r.Differs) > 0 || r.Windows < 3 || r.Beyond > 10 {
		t.Errorf("%+v, want some windows without a difference, and a few steps that are not decided", r)
	}
	const k = 45
	early := slices.IndexFunc(steps, func(s Step) bool { return s.Kind == Grant && s.Node == 10+k }) - 2 // while the node before stands
	wrong := swapped(swapped(steps, early+2, early+1), early+1, early)
	want := fmt.Sprintf("line %d, l at %v: contender %d is granted", early+1, time.Duration(early)*time.Second, k%2)
	if r := validate(t, v, wrong); len(r.Differs) != 1 || !strings.Contains(r.Differs[0], want) {
		t.Errorf("a grant before its turn: %+v, want %q", r, want)
	}
}
