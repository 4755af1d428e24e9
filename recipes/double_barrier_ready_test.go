package recipes_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// Members that leave after the ready node has been deleted.

// A member of Curator's that gives up in enter deletes the ready node.
func TestMembersLeaveThoughTheReadyNodeIsGone(t *testing.T) {
	path := uniquePath(t)
	a, b, _, _ := pair(t, path)
	conn := admin(t)
	together(t, a.Enter, b.Enter)
	if err := conn.Delete(path+"/ready", -1); err != nil {
		t.Fatal(err)
	}
	together(t, a.Leave, b.Leave)
	nothingLeft(t, conn, path)
}

// A member of Curator's that gave up has deleted the ready node while others are inside. A member
// that has lost its membership still waits for them, although it does not know which members they
// are.
func TestASessionEndsInsideWhoseReadyNodeIsGone(t *testing.T) {
	roles(t, func(t *testing.T, conn outsider, path string, subject, other *recipes.DoubleBarrier, wire *intercept) {
		if err := conn.Delete(path+"/ready", -1); err != nil {
			t.Fatal(err)
		}
		expire(t, wire)
		awaitMembers(t, conn, path, 1)
		if err := subject.Leave(within(t)); !errors.Is(err, recipes.ErrMembershipLost) {
			t.Errorf("leave: %v", err)
		}
		leaving := going(within(t), subject.Leave)
		eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
		waits(t, leaving)
		does(t, other.Leave)
		succeeds(t, leaving)
		nothingLeft(t, conn, path)
	})
}

// The member with the lowest name, for which a leaving member waits first, crashes; the ready
// node is gone. The leaving member still waits for the third member.
func TestTheLowestCrashesAndTheReadyNodeIsGone(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	long := recipes.WithSessionTimeout(20 * time.Second)
	var all [3]*recipes.DoubleBarrier
	var wires [3]*intercept
	for i := range all {
		wires[i] = new(intercept)
		all[i] = recipes.NewDoubleBarrier(connect(t, addrsOf(t), recipes.WithDialer(wires[i].dial), long), path, 3)
	}
	together(t, all[0].Enter, all[1].Enter, all[2].Enter)
	if err := conn.Delete(path+"/ready", -1); err != nil {
		t.Fatal(err)
	}
	lowest := slices.IndexFunc(wires[:], func(w *intercept) bool {
		id, _ := w.credentials()
		return id == lowestOwner(t, conn, path)
	})
	leaver, third := all[(lowest+1)%3], all[(lowest+2)%3]
	leaving := going(within(t), leaver.Leave)
	eventually(t, "it waits for the lowest", func() bool { return watchesAt(t, path) == 1 && len(members(t, conn, path)) == 2 })
	expire(t, wires[lowest])
	awaitMembers(t, conn, path, 1)
	eventually(t, "it waits for the third", func() bool { return len(leaving) == 1 || watchesAt(t, path) == 1 })
	waits(t, leaving)
	does(t, third.Leave)
	succeeds(t, leaving)
	if err := all[lowest].Leave(within(t)); !errors.Is(err, recipes.ErrMembershipLost) {
		t.Errorf("the lowest leaves: %v", err)
	}
	nothingLeft(t, conn, path)
}
