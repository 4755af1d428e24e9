package recipes_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// twoAtATime admits the first two of the queue.
func twoAtATime(_ []recipes.Place, self int) int {
	if self < 2 {
		return -1
	}
	return self - 2
}

func TestACustomRuleIsFollowedWhoeverGoes(t *testing.T) {
	for _, clients := range []int{1, 4} {
		path := uniquePath(t)
		var locks []*recipes.Mutex
		for range clients {
			c := connect(t, addrsOf(t), recipes.WithSessionTimeout(40*time.Second))
			locks = append(locks, recipes.NewMutex(c, path, recipes.WithGrantRule(twoAtATime)))
		}
		lock := func(i int) *recipes.Mutex { return locks[i%clients] }
		a, b := acquire(t, within(t), lock(0)), acquire(t, within(t), lock(1))
		if _, err := lock(2).TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
			t.Errorf("a third holder: %v", err)
		}
		ctx, cancel := context.WithCancel(within(t))
		cancelled := acquiring(ctx, lock(2))
		conn := admin(t)
		eventually(t, "the third queues", func() bool { return len(contenders(t, conn, path)) == 3 })
		waiting := acquiring(within(t), lock(3))
		eventually(t, "the fourth queues", func() bool { return len(contenders(t, conn, path)) == 4 })
		// The fourth contender waited for the second to leave. When the third leaves, it is
		// enough that the first leaves.
		cancel()
		<-cancelled
		eventually(t, "the third has left", func() bool { return len(contenders(t, conn, path)) == 3 })
		start := time.Now()
		release(t, a)
		d := (<-waiting).ok(t)
		if waited := time.Since(start); waited > 20*time.Second {
			t.Errorf("found out by the slow poll after %v", waited)
		}
		release(t, b)
		release(t, d)
		eventually(t, "nothing is left", func() bool { return len(contenders(t, conn, path)) == 0 })
	}
}

func TestARuleThatWaitsForWhoComesLaterIsRefused(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	for _, nonsense := range []int{0, 7, -2} {
		m := recipes.NewMutex(c, path, recipes.WithGrantRule(func([]recipes.Place, int) int { return nonsense }))
		if _, err := m.Acquire(within(t)); !errors.Is(err, recipes.ErrBadRule) {
			t.Errorf("a rule that returns %d: %v", nonsense, err)
		}
	}
	eventually(t, "nothing is left", func() bool { return len(contenders(t, admin(t), path)) == 0 })
}

// A reader that waits for a writer is told when that writer gives up, also while the reader ahead
// of the writer keeps its lock.
func TestAReaderHearsOfAWriterThatGivesUp(t *testing.T) {
	path := uniquePath(t)
	var sides []*recipes.ReadWriteMutex
	for range 3 {
		sides = append(sides, recipes.NewReadWriteMutex(connect(t, addrsOf(t), recipes.WithSessionTimeout(40*time.Second)), path))
	}
	conn := admin(t)
	first := acquire(t, within(t), sides[0].Read())
	ctx, cancel := context.WithCancel(within(t))
	writing := acquiring(ctx, sides[1].Write())
	eventually(t, "the writer queues", func() bool { return len(contenders(t, conn, path)) == 2 })
	reading := acquiring(within(t), sides[2].Read())
	eventually(t, "the reader waits", func() bool { return watchesBelow(t, path) == 2 })
	start := time.Now()
	cancel()
	<-writing
	second := (<-reading).ok(t)
	if waited := time.Since(start); waited > 20*time.Second {
		t.Errorf("found out by the slow poll after %v", waited)
	}
	release(t, second)
	release(t, first)
}

func TestAGrantRuleIsShownTheNodesOfTheQueue(t *testing.T) {
	path, c := uniquePath(t), connect(t, addrsOf(t))
	type shown struct {
		queue []recipes.Place
		self  int
	}
	last := make(chan shown, 1)
	m := recipes.NewMutex(c, path, recipes.WithGrantRule(func(queue []recipes.Place, self int) int {
		select {
		case <-last:
		default:
		}
		last <- shown{slices.Clone(queue), self}
		return -1
	}))
	a, b := acquire(t, within(t), m), acquire(t, within(t), m)
	got := <-last
	var nodes []string
	for i, p := range got.queue {
		nodes = append(nodes, path+"/"+p.Node)
		if p.Kind != "lock-" || p.Sequence != int32(i) {
			t.Errorf("place %d: %+v", i, p)
		}
	}
	if want := []string{a.Node(), b.Node()}; !slices.Equal(nodes, want) || got.self != 1 {
		t.Errorf("shown %v, self %d; want %v and 1", nodes, got.self, want)
	}
	release(t, a)
	release(t, b)
}
