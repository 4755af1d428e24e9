package recipes_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// counted connects a client whose requests are counted by operation. Its session is long, so that
// heartbeats and slow polls stay out of the count.
func counted(t *testing.T) (*recipes.Client, func() map[int32]int) {
	t.Helper()
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(40*time.Second))
	var mu sync.Mutex
	sent := make(map[int32]int)
	wire.on(func(op int32) bool {
		mu.Lock()
		defer mu.Unlock()
		sent[op]++
		return true
	}, nil)
	return c, func() map[int32]int {
		mu.Lock()
		defer mu.Unlock()
		got := sent
		sent = make(map[int32]int)
		return got
	}
}

// TestAnUncontendedCycleIsACreateAndADelete: a list of the queue is not needed when only the
// session's own delete has happened since its last create. The first cycles list the queue.
func TestAnUncontendedCycleIsACreateAndADelete(t *testing.T) {
	path := uniquePath(t)
	c, sent := counted(t)
	m := recipes.NewMutex(c, path)
	release(t, acquire(t, within(t), m)) // creates the parents
	sent()
	const n = 50
	for range n {
		release(t, acquire(t, within(t), m))
	}
	got := sent()
	if got[opCreate] != n || got[opDelete] != n || got[opChildren] == 0 || got[opChildren] > n/2 || got[opExists]+got[opGetData] != 0 {
		t.Errorf("requests by operation: %v", got)
	}
	for range n {
		l := acquire(t, within(t), m)
		if _, err := admin(t).Set(path, nil, -1); err != nil {
			t.Fatal(err)
		}
		release(t, l)
	}
	got = sent()
	// Rarely the list overtakes its create, and another list follows.
	if got[opCreate] != n || got[opDelete] != n || got[opChildren] < n-1 || got[opChildren] > n+n/5 || got[opExists]+got[opGetData] != 0 {
		t.Errorf("requests by operation, with a write of another client during each hold: %v", got)
	}
}

// One transaction creates the nodes of the mutexes, and its answer has the token.
func TestAMultiLockAsksNobodyForItsToken(t *testing.T) {
	path := uniquePath(t)
	c, sent := counted(t)
	m := recipes.NewMultiLock(recipes.NewMutex(c, path+"/a"), recipes.NewMutex(c, path+"/b"))
	cycle := func() {
		l, err := m.Acquire(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	cycle()
	sent()
	const n = 20
	for range n {
		cycle()
	}
	if got := sent(); got[opMulti] < n || got[opExists]+got[opGetData] != 0 {
		t.Errorf("requests by operation: %v", got)
	}
}

func TestContendersOfOneClientAskTheServersForNothingButTheirNodes(t *testing.T) {
	path := uniquePath(t)
	c, sent := counted(t)
	m := recipes.NewMutex(c, path)
	l := acquire(t, within(t), m)
	const n = 200
	var waiting []<-chan result
	for range n {
		waiting = append(waiting, acquiring(within(t), m))
	}
	eventually(t, "all queue", func() bool { return len(contenders(t, admin(t), path)) == n+1 })
	sent()
	release(t, l)
	var turns sync.WaitGroup
	for _, w := range waiting {
		turns.Go(func() { // in the order of the queue, which is not that of the slice
			if r := <-w; r.err != nil {
				t.Error(r.err)
			} else if err := r.lease.Release(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "all have had their turn", func() bool { return len(contenders(t, admin(t), path)) == 0 })
	turns.Wait() // the servers carry out a release before its client gets the answer
	got := sent()
	// Rarely a list arrives before a contender has processed the answer to its create: then the
	// next contender treats that node as another session's and watches it.
	if got[opDelete] != n+1 || got[opChildren] > 4 || got[opExists]+got[opGetData] > 2 {
		t.Errorf("requests by operation: %v", got)
	}
	if n := watchesBelow(t, path); n != 0 {
		t.Errorf("%d watches", n)
	}
}

// TestAHandOverBetweenSessionsCostsTheSameHoweverManyWait: only the next contenders in line are
// told of a release (a naive lock wakes all of them).
func TestAHandOverBetweenSessionsCostsTheSameHoweverManyWait(t *testing.T) {
	path := uniquePath(t)
	const sessions = 12
	var holders []*recipes.Lease
	var sent []func() map[int32]int
	var waiting []<-chan result
	for i := range sessions {
		c, count := counted(t)
		sent = append(sent, count)
		m := recipes.NewMutex(c, path)
		if i == 0 {
			holders = append(holders, acquire(t, within(t), m))
			continue
		}
		waiting = append(waiting, acquiring(within(t), m))
		eventually(t, "it queues", func() bool { return len(contenders(t, admin(t), path)) == i+1 })
	}
	eventually(t, "all watch the two ahead", func() bool { return watchesBelow(t, path) == 1+2*(sessions-2) })
	for _, count := range sent {
		count()
	}
	release(t, holders[0])
	second := (<-waiting[0]).ok(t)
	release(t, second)
	third := (<-waiting[1]).ok(t)
	total, lists := make(map[int32]int), make([]int, sessions)
	eventually(t, "the fourth has looked", func() bool {
		for i, count := range sent {
			for op, n := range count() {
				total[op] += n
				if op == opChildren {
					lists[i] += n
				}
				if i > 3 && n > 0 && op != opPing && op != opSync && op != opBeat {
					t.Errorf("session %d, far from its turn, sends %d requests of operation %d", i, n, op)
				}
			}
		}
		return lists[3] > 0
	})
	// The second and third contender have seen in their first list that no other contender is
	// ahead, unless the request for the list, which is sent at the same time, overtook the create.
	if total[opDelete] != 2 || slices.Max(lists) > 1 || total[opGetData]+total[opSetWatches]+total[opCreate] != 0 {
		t.Errorf("requests by operation for two hand-overs: %v; lists by session: %v", total, lists)
	}
	release(t, third)
	for _, w := range waiting[2:] {
		release(t, (<-w).ok(t))
	}
}

// TestACycleBetweenSessionsIsFiveRequests: a create, a list, the watches on the two nodes ahead,
// a list when the first of these has gone, and a delete. With two nodes ahead, no third can be
// there when the first has gone; with one node ahead there is no other. The request for the first
// list is sent at the same time as the create: when it overtakes that, one list more is needed,
// and the cycle is tried again.
func TestACycleBetweenSessionsIsFiveRequests(t *testing.T) {
	for ahead, want := range []map[int32]int{
		{opCreate: 1, opChildren: 1, opDelete: 1},
		{opCreate: 1, opChildren: 1, opGetData: 1, opDelete: 1},
		{opCreate: 1, opChildren: 1, opSetWatches: 1, opDelete: 1},
		{opCreate: 1, opChildren: 2, opSetWatches: 1, opDelete: 1},
		{opCreate: 1, opChildren: 2, opSetWatches: 1, opDelete: 1},
	} {
		total := cycleBehind(t, ahead, want[opChildren])
		for range 4 {
			if total[opChildren] != want[opChildren]+1 {
				break
			}
			total = cycleBehind(t, ahead, want[opChildren])
		}
		if !maps.Equal(total, want) {
			t.Errorf("with %d ahead it sends %v, not %v", ahead, total, want)
		}
	}
}

// cycleBehind counts the requests of an acquire and a release behind so many other contenders,
// each of a session of its own. The last of these releases when the acquire has made its lists.
func cycleBehind(t *testing.T, ahead, lists int) map[int32]int {
	t.Helper()
	path := uniquePath(t)
	persistent(t, admin(t), path) // so that no server deletes it when it is empty
	var waiting []<-chan result
	watched := 0
	for i := range ahead {
		waiting = append(waiting, acquiring(within(t), recipes.NewMutex(connect(t, addrsOf(t)), path)))
		watched += min(i, 2)
		eventually(t, "it queues", func() bool {
			return len(contenders(t, admin(t), path)) == i+1 && watchesBelow(t, path) == watched
		})
	}
	c, sent := counted(t)
	waiting = append(waiting, acquiring(within(t), recipes.NewMutex(c, path)))
	watched += min(ahead, 2)
	eventually(t, "it watches", func() bool { return watchesBelow(t, path) == watched })
	total := make(map[int32]int)
	for i, w := range waiting {
		l := (<-w).ok(t)
		eventually(t, "it has looked", func() bool {
			for op, n := range sent() {
				total[op] += n
			}
			return i != ahead-1 || total[opChildren] >= lists
		})
		release(t, l)
	}
	for op, n := range sent() {
		total[op] += n
	}
	for _, beat := range []int32{opPing, opSync, opBeat} {
		delete(total, beat)
	}
	return total
}

// A round of a double barrier takes only the necessary requests, also for a member that was in
// another round before: the member does not wait for a round that it has seen end.
func TestARoundOfADoubleBarrierAsksForNoOther(t *testing.T) {
	path := uniquePath(t)
	c, sent := counted(t)
	again := recipes.NewDoubleBarrier(c, path, 1)
	does(t, again.Enter) // creates the parents
	does(t, again.Leave)
	for _, b := range []*recipes.DoubleBarrier{again, again, recipes.NewDoubleBarrier(c, path, 1)} {
		sent()
		does(t, b.Enter)
		if got, want := sent(), (map[int32]int{opCreate: 1, opExists: 1, opGetData: 1, opChildren: 2, opMulti: 1}); !maps.Equal(got, want) {
			t.Errorf("to enter it sends %v, not %v", got, want)
		}
		does(t, b.Leave)
		if got, want := sent(), (map[int32]int{opGetData: 1, opChildren: 1, opMulti: 1}); !maps.Equal(got, want) {
			t.Errorf("to leave it sends %v, not %v", got, want)
		}
	}
}
