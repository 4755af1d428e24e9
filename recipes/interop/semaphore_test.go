package interop_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// permits makes an acquire of n permits at once look like that of any lock.
type permits struct {
	*recipes.Semaphore
	n int
}

func (p permits) Acquire(ctx context.Context) (*recipes.Lease, error) {
	return p.Semaphore.AcquireN(ctx, p.n)
}

func (p permits) TryAcquire(ctx context.Context) (*recipes.Lease, error) {
	return p.Semaphore.TryAcquireN(ctx, p.n)
}

func TestSemaphoreCountsTheirPermitsAndOurs(t *testing.T) {
	path := uniquePath(t)
	ours, theirs := recipes.NewSemaphore(goClient(t), path, 3), curatorClient(t)
	theirs.do("semaphore", "s", path, 3)

	two := acquire(t, permits{ours, 2})
	if two.Permits() != 2 {
		t.Errorf("%d permits; want 2", two.Permits())
	}
	if theirs.do("acquire-permits", "s", 2, 50).Done {
		t.Fatal("Curator was granted 2 permits of 3, of which we hold 2")
	}
	third := theirs.start("acquire-permits", "s", 1)
	theirs.answer(third)
	notFree(t, permits{ours, 1})

	waiting := acquiring(t, permits{ours, 1})
	theirs.do("return-permits", "s", third.id)
	one := waiting.got()
	release(t, two)
	release(t, one)

	all := theirs.start("acquire-permits", "s", 3)
	theirs.answer(all)
	notFree(t, permits{ours, 1})
	waiting = acquiring(t, permits{ours, 3})
	theirs.do("return-permits", "s", all.id)
	three := waiting.got()
	more := theirs.start("acquire-permits", "s", 2)
	release(t, three)
	theirs.answer(more)
	theirs.do("return-permits", "s", more.id)
}

// Freed permits go to the first acquirer of either library, however many it asks for. (Curator
// takes several permits one by one, and joins the queue again for each.)
func TestSemaphoreServesBothInTheOrderOfTheirArrival(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	ours, theirs := recipes.NewSemaphore(goClient(t), path, 2), curatorClient(t)
	theirs.do("semaphore", "s", path, 2)
	first := acquire(t, permits{ours, 2})

	second := theirs.start("acquire-permits", "s", 1)
	queued(t, conn, path+"/locks", 1)
	third := acquiring(t, permits{recipes.NewSemaphore(goClient(t), path, 2), 2})
	queued(t, conn, path+"/locks", 2)
	fourth := theirs.startOn("another thread", "acquire-permits", "s", 1)
	queued(t, conn, path+"/locks", 3)
	third.waits()
	fourth.pending(t)

	release(t, first)
	theirs.answer(second)
	notFree(t, permits{ours, 1}) // one permit is free, but other acquirers came first
	third.waits()
	fourth.pending(t)
	theirs.do("return-permits", "s", second.id)
	two := third.got()
	fourth.pending(t)
	release(t, two)
	theirs.answer(fourth)
	theirs.do("return-permits", "s", fourth.id)
}

func TestSemaphoreIsFreedByAWaiterThatGivesUp(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	ours, theirs := recipes.NewSemaphore(goClient(t), path, 2), curatorClient(t)
	theirs.do("semaphore", "s", path, 2)
	one := acquire(t, permits{ours, 1})
	if theirs.do("acquire-permits", "s", 2, 50).Done {
		t.Fatal("Curator was granted 2 permits of 2, of which we hold 1")
	}
	release(t, acquire(t, permits{ours, 1}))

	theirs.do("acquire-permits", "s", 1)
	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := ours.AcquireN(brief, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v of an acquire that waits for Curator's permit", err)
	}
	release(t, one)
	queued(t, conn, path+"/leases", 1)
	queued(t, conn, path+"/locks", 0)
	if !theirs.do("acquire-permits", "s", 1, patient.Milliseconds()).Done {
		t.Error("our waiter left a permit behind")
	}
}

func TestSemaphoreParticipantsAreSeenFromBothSides(t *testing.T) {
	path := uniquePath(t)
	ours, theirs := recipes.NewSemaphore(goClient(t), path, 2, recipes.WithData([]byte("gopher"))), curatorClient(t)
	theirs.do("semaphore", "s", path, 2, "duke")
	held := acquire(t, permits{ours, 1})
	theirs.do("acquire-permits", "s", 1)

	seen := theirs.do("participants", "s", path)
	slices.Sort(seen.Data)
	if !slices.Equal(seen.Data, []string{"duke", "gopher"}) {
		t.Errorf("Curator sees %q", seen.Data)
	}
	all, err := ours.Participants(within(t))
	must(t, err)
	var data []string
	for _, p := range all {
		data = append(data, string(p.Data))
		if !slices.Contains(seen.Nodes, p.Node) {
			t.Errorf("we see %s, which Curator does not: %q", p.Node, seen.Nodes)
		}
	}
	slices.Sort(data)
	if !slices.Equal(data, []string{"duke", "gopher"}) {
		t.Errorf("we see %q", data)
	}
	release(t, held)
}

func TestSharedSemaphoreChangesItsSizeFromBothSides(t *testing.T) {
	path, client := uniquePath(t), goClient(t)
	count := recipes.NewSharedCount(client, path+"/count", 1)
	ours, theirs := recipes.NewSharedSemaphore(client, path+"/s", count), curatorClient(t)
	theirs.do("count", "c", path+"/count", 1)
	theirs.do("shared-semaphore", "s", path+"/s", "c")
	agree := func(n int) {
		t.Helper()
		eventually(t, "both see the new count", func() bool {
			got, err := count.Get(within(t))
			must(t, err)
			return got == n && theirs.do("get-count", "c").Value == n
		})
	}
	agree(1)
	first := acquire(t, permits{ours, 1})
	us := acquiring(t, permits{ours, 1})
	them := theirs.startOn("another thread", "acquire-permits", "s", 1)
	us.waits()
	them.pending(t)

	// We raise the size: both get a permit.
	must(t, count.Set(within(t), 3))
	second := us.got()
	theirs.answer(them)
	agree(3)

	// Curator lowers the size: no holder loses its permit, and no acquirer gets one until enough
	// have been released.
	theirs.do("set-count", "c", 2)
	agree(2)
	release(t, first)
	notFree(t, permits{ours, 1})
	if theirs.do("acquire-permits", "s", 1, 50).Done {
		t.Error("Curator was granted a third permit of 2")
	}
	release(t, second)
	third := acquire(t, permits{ours, 1})

	// Curator raises the size again.
	us = acquiring(t, permits{ours, 2})
	theirs.do("set-count", "c", 4)
	release(t, us.got())
	release(t, third)
	theirs.do("return-permits", "s", them.id)
	if got := theirs.start("acquire-permits", "s", 4); !theirs.answer(got).Done {
		t.Error("Curator cannot get the free permit")
	} else {
		theirs.do("return-permits", "s", got.id)
	}
}

func TestNonReentrantMutexIsCuratorsSemaphoreMutex(t *testing.T) {
	path := uniquePath(t)
	client, theirs := goClient(t), curatorClient(t)
	ours := recipes.NewNonReentrantMutex(client, path)
	theirs.do("semaphore-mutex", "m", path)

	held := acquire(t, ours)
	if _, err := ours.Acquire(as(t, held)); !errors.Is(err, recipes.ErrAlreadyHeld) {
		t.Errorf("error %v of a second acquire of one owner; want %v", err, recipes.ErrAlreadyHeld)
	}
	theirs.refused("m")
	waiting := theirs.start("acquire", "m")
	release(t, held)
	theirs.answer(waiting)
	notFree(t, ours)
	us := acquiring(t, ours)
	us.waits()
	theirs.do("release", "m")
	release(t, us.got())

	// For both libraries it is a semaphore of size 1.
	theirs.acquire("m")
	notFree(t, permits{recipes.NewSemaphore(client, path, 1), 1})
	theirs.do("release", "m")
}
