package queue

import (
	"slices"
	"testing"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// A contender that was given up is not in the queue until no node of it can be left, in
// either order of the two events. Nothing is remembered of it after that.
func TestWhoIsGivenUpDoesNotStandUntilItIsSettled(t *testing.T) {
	guids := []string{"00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002", "00000000-0000-0000-0000-000000000003"}
	var nodes []string
	for i, guid := range guids {
		nodes = append(nodes, session.ProtectedName(guid, Lock)+"000000000"+string(rune('0'+i)))
	}
	places := Places(nodes, Locks)
	var g givenUp
	stands := func(want ...int) {
		t.Helper()
		var got []string
		for _, p := range g.standing(places) {
			got = append(got, p.Node)
		}
		var all []string
		for _, i := range want {
			all = append(all, nodes[i])
		}
		if !slices.Equal(got, all) {
			t.Errorf("%v stand, want %v", got, all)
		}
	}
	stands(0, 1, 2)
	g.settle(guids[0]) // the node is deleted before the contender is known to be given up
	stands(0, 1, 2)
	g.add(guids[1])
	stands(0, 2)
	g.settle(guids[2])
	stands(0, 2)
	g.add(guids[0])
	g.add(guids[2])
	stands(0, 2)
	g.settle(guids[1])
	stands(0, 1, 2)
	if len(g.guids) > 0 {
		t.Errorf("left: %v", g.guids)
	}
}
