package interop_test

import (
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

func TestMutexIsOneLockForBoth(t *testing.T) {
	path := uniquePath(t)
	ours, theirs := recipes.NewMutex(goClient(t), path), curatorClient(t)
	theirs.do("mutex", "m", path)
	for range 3 {
		held := acquire(t, ours)
		theirs.refused("m")
		release(t, held)
		theirs.acquire("m")
		notFree(t, ours)
		theirs.do("release", "m")
	}
}

func TestMutexServesBothInTheOrderOfTheirArrival(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	ours, theirs := recipes.NewMutex(goClient(t), path), curatorClient(t)
	theirs.do("mutex", "m", path)
	first := acquire(t, ours)
	second := theirs.start("acquire", "m")
	queued(t, conn, path, 2)
	third := acquiring(t, recipes.NewMutex(goClient(t), path))
	queued(t, conn, path, 3)
	fourth := theirs.startOn("another thread", "acquire", "m")
	queued(t, conn, path, 4)
	fifth := acquiring(t, recipes.NewMutex(goClient(t), path))
	queued(t, conn, path, 5)

	release(t, first)
	theirs.answer(second)
	third.waits()
	fourth.pending(t)
	theirs.do("release", "m")
	held := third.got()
	fourth.pending(t)
	fifth.waits()
	release(t, held)
	theirs.answer(fourth)
	fifth.waits()
	theirs.answer(theirs.startOn("another thread", "release", "m"))
	release(t, fifth.got())
}

// A waiter that gives up leaves the queue, so that the next contender is not blocked.
func TestMutexForgetsAWaiterThatGivesUp(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	client, theirs := goClient(t), curatorClient(t)
	theirs.do("mutex", "m", path)
	first := acquire(t, recipes.NewMutex(client, path))
	if theirs.do("acquire", "m", 50).Done {
		t.Fatal("Curator was granted a lock that is held")
	}
	next := acquiring(t, recipes.NewMutex(goClient(t), path))
	queued(t, conn, path, 2)
	release(t, first)
	release(t, next.got())

	theirs.acquire("m")
	notFree(t, recipes.NewMutex(client, path))
	last := theirs.startOn("another thread", "acquire", "m")
	queued(t, conn, path, 2)
	theirs.do("release", "m")
	theirs.answer(last)
}

func TestMutexReentryOfOneFreesNothingForTheOther(t *testing.T) {
	path := uniquePath(t)
	ours, theirs := recipes.NewMutex(goClient(t), path), curatorClient(t)
	theirs.do("mutex", "m", path)

	outer := acquire(t, ours)
	inner, err := ours.Acquire(as(t, outer))
	must(t, err)
	release(t, inner)
	theirs.refused("m")
	release(t, outer)

	theirs.acquire("m")
	theirs.acquire("m")
	theirs.do("release", "m")
	notFree(t, ours)
	theirs.do("release", "m")
	release(t, acquire(t, ours))
}

func TestMutexParticipantsAreSeenFromBothSides(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	ours, theirs := recipes.NewMutex(goClient(t), path, recipes.WithData([]byte("gopher"))), curatorClient(t)
	theirs.do("mutex", "m", path)
	held := acquire(t, ours)
	waiting := theirs.start("acquire", "m")
	queued(t, conn, path, 2)

	var all []recipes.Participant
	eventually(t, "our server has heard of both", func() bool {
		var err error
		all, err = ours.Participants(within(t))
		must(t, err)
		return len(all) == 2
	})
	seen := theirs.answer(theirs.startOn("another thread", "participants", "m"))
	if len(all) != 2 || len(seen.Nodes) != 2 {
		t.Fatalf("we see %+v, Curator sees %+v; want two participants each", all, seen)
	}
	for i, p := range all {
		if p.Node != seen.Nodes[i] || string(p.Data) != seen.Data[i] {
			t.Errorf("participant %d: we see %s with %q, Curator %s with %q", i, p.Node, p.Data, seen.Nodes[i], seen.Data[i])
		}
	}
	if all[0].Node != held.Node() || seen.Data[0] != "gopher" {
		t.Errorf("the first participant is %+v with %q, not the holder %s", all[0], seen.Data[0], held.Node())
	}
	if len(all[1].Data) == 0 {
		t.Error("Curator's node carries no address")
	}
	release(t, held)
	theirs.answer(waiting)
	theirs.do("release", "m")
}
