package recipes_test

import (
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// A participant leaves between the list and the read of its node.
func TestAParticipantThatLeavesMeanwhileIsLeftOut(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	other := recipes.NewNonReentrantMutex(connect(t, addrsOf(t), recipes.WithSessionTimeout(time.Minute)), path)
	l, err := other.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	var wire intercept
	m := recipes.NewNonReentrantMutex(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path)
	all, err := m.Participants(within(t))
	if err != nil || len(all) != 1 || all[0].Node != l.Node() || all[0].Token != l.Token() {
		t.Fatalf("the participants are %+v, %v, and %s holds it", all, err, l.Node())
	}
	left := false
	wire.on(once(opGetData, func() bool {
		if err := conn.Delete(l.Node(), -1); err != nil {
			t.Error(err)
		}
		left = true
		return true
	}), nil)
	if all, err = m.Participants(within(t)); err != nil || len(all) != 0 || !left {
		t.Errorf("left: %v; the participants are %+v, %v", left, all, err)
	}
}

// The lease of several locks is valid while all of its parts are.
func TestTheDeadlineOfAMultiLeaseIsItsPartsEarliest(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	l, err := recipes.NewMultiLock(recipes.NewMutex(c, path+"/a"), recipes.NewMutex(c, path+"/b")).Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	var before []time.Time
	for _, part := range l.Leases() {
		before = append(before, part.Deadline())
	}
	if got := l.Deadline(); got.Before(slices.MinFunc(before, time.Time.Compare)) || got.Before(time.Now()) {
		t.Errorf("the deadline is %v, and those of the parts were %v", got, before)
	}
	if err := l.Release(within(t)); err != nil {
		t.Error(err)
	}
}
