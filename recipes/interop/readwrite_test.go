package interop_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

func TestReadersOfBothShareAndWritersOfBothDoNot(t *testing.T) {
	path := uniquePath(t)
	ours, theirs := recipes.NewReadWriteMutex(goClient(t), path), curatorClient(t)
	theirs.do("read-write", "rw", path)

	reading := acquire(t, ours.Read())
	theirs.acquire("rw/read")
	notFree(t, ours.Write())
	theirs.answer(theirs.startOn("another thread", "acquire", "rw/read")) // a second reader
	if theirs.answer(theirs.startOn("a writer", "acquire", "rw/write", 0)).Done {
		t.Fatal("Curator writes while we read")
	}
	theirs.do("release", "rw/read")
	theirs.answer(theirs.startOn("another thread", "release", "rw/read"))
	release(t, reading)

	writing := acquire(t, ours.Write())
	theirs.refused("rw/read")
	theirs.refused("rw/write")
	release(t, writing)

	theirs.acquire("rw/write")
	notFree(t, ours.Read())
	notFree(t, ours.Write())
	theirs.do("release", "rw/write")
	release(t, acquire(t, ours.Write()))
}

// A writer that waits keeps out the readers that come after it, or it would
// starve.
func TestAQueuedWriterHoldsBackTheReadersOfBoth(t *testing.T) {
	t.Run("the writer is Curator", func(t *testing.T) {
		path, conn := uniquePath(t), admin(t)
		ours, theirs := recipes.NewReadWriteMutex(goClient(t), path), curatorClient(t)
		theirs.do("read-write", "rw", path)
		reading := acquire(t, ours.Read())
		writer := theirs.start("acquire", "rw/write")
		queued(t, conn, path, 2)
		us := acquiring(t, recipes.NewReadWriteMutex(goClient(t), path).Read())
		queued(t, conn, path, 3)
		them := theirs.startOn("another thread", "acquire", "rw/read")
		queued(t, conn, path, 4)
		us.waits()
		them.pending(t)

		release(t, reading)
		theirs.answer(writer)
		us.waits()
		them.pending(t)
		theirs.do("release", "rw/write")
		theirs.answer(them)
		release(t, us.got())
		theirs.answer(theirs.startOn("another thread", "release", "rw/read"))
	})
	t.Run("the writer is ours", func(t *testing.T) {
		path, conn := uniquePath(t), admin(t)
		ours, theirs := recipes.NewReadWriteMutex(goClient(t), path), curatorClient(t)
		theirs.do("read-write", "rw", path)
		theirs.acquire("rw/read")
		writer := acquiring(t, ours.Write())
		queued(t, conn, path, 2)
		us := acquiring(t, recipes.NewReadWriteMutex(goClient(t), path).Read())
		queued(t, conn, path, 3)
		them := theirs.startOn("another thread", "acquire", "rw/read")
		queued(t, conn, path, 4)

		theirs.do("release", "rw/read")
		held := writer.got()
		us.waits()
		them.pending(t)
		release(t, held)
		theirs.answer(them)
		release(t, us.got())
		theirs.answer(theirs.startOn("another thread", "release", "rw/read"))
	})
}

// A writer of ours that downgrades keeps its place before the writers that wait
// (CURATOR-621), and lets the readers in that came before them.
func TestOurDowngradeHoldsBackCuratorsWriter(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	ours, theirs := recipes.NewReadWriteMutex(goClient(t), path), curatorClient(t)
	theirs.do("read-write", "rw", path)
	writing := acquire(t, ours.Write())
	reader := theirs.start("acquire", "rw/read")
	queued(t, conn, path, 2)
	writer := theirs.startOn("a writer", "acquire", "rw/write")
	queued(t, conn, path, 3)
	late := theirs.startOn("a late reader", "acquire", "rw/read")
	queued(t, conn, path, 4)

	reading, err := ours.Read().Acquire(as(t, writing))
	must(t, err)
	reader.pending(t)
	release(t, writing)
	theirs.answer(reader) // it reads beside us
	writer.pending(t)
	theirs.do("release", "rw/read")
	// Curator's writer lists the queue again whenever the node ahead of it is deleted.
	if theirs.answer(theirs.startOn("another writer", "acquire", "rw/write", 200)).Done {
		t.Fatal("Curator writes while we read")
	}
	writer.pending(t)
	late.pending(t)
	release(t, reading)
	theirs.answer(writer)
	late.pending(t)
	theirs.answer(theirs.startOn("a writer", "release", "rw/write"))
	theirs.answer(late)
	theirs.answer(theirs.startOn("a late reader", "release", "rw/read"))
}

func TestCuratorsDowngradeHoldsBackOurLaterWriter(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	ours, theirs := recipes.NewReadWriteMutex(goClient(t), path), curatorClient(t)
	theirs.do("read-write", "rw", path)
	theirs.acquire("rw/write")
	theirs.acquire("rw/read")
	notFree(t, ours.Read())
	theirs.do("release", "rw/write")
	release(t, acquire(t, ours.Read()))
	writer := acquiring(t, ours.Write())
	queued(t, conn, path, 2)
	writer.waits()
	theirs.do("release", "rw/read")
	release(t, writer.got())
}

// Curator 5.4 gives a reader that comes from a writer a place behind the waiting writers, and so
// admits the next writer, Curator's or ours, beside it (CURATOR-621). From 5.5 on it has the
// writer's place.
func TestCuratorsDowngradeMeetsOurQueuedWriter(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	ours, theirs := recipes.NewReadWriteMutex(goClient(t), path), curatorClient(t)
	theirs.do("read-write", "rw", path)
	theirs.acquire("rw/write")
	queue := children(t, conn, path)
	place := queue[0][len(queue[0])-10:]
	writer := acquiring(t, ours.Write())
	queued(t, conn, path, 2)
	theirs.acquire("rw/read")
	repaired := slices.ContainsFunc(children(t, conn, path), func(name string) bool { return strings.HasSuffix(name, "__READ__"+place) })
	theirs.do("release", "rw/write")
	if repaired {
		notFree(t, ours.Write())
		writer.waits()
		theirs.do("release", "rw/read")
		release(t, writer.got())
		return
	}
	t.Logf("Curator %s: our writer is let in beside Curator's reader", version)
	release(t, writer.got())
	theirs.do("release", "rw/read")
}

func TestNobodyUpgrades(t *testing.T) {
	path := uniquePath(t)
	ours, theirs := recipes.NewReadWriteMutex(goClient(t), path), curatorClient(t)
	theirs.do("read-write", "rw", path)
	reading := acquire(t, ours.Read())
	if _, err := ours.Write().Acquire(as(t, reading)); !errors.Is(err, recipes.ErrUpgrade) {
		t.Errorf("error %v of an upgrade; want %v", err, recipes.ErrUpgrade)
	}
	release(t, reading)
	theirs.acquire("rw/read")
	theirs.refused("rw/write") // it would wait for itself, for ever
	theirs.do("release", "rw/read")
	release(t, acquire(t, ours.Write()))
}

func TestReadWriteParticipantsAreSeenFromBothSides(t *testing.T) {
	path := uniquePath(t)
	ours, theirs := recipes.NewReadWriteMutex(goClient(t), path, recipes.WithData([]byte("gopher"))), curatorClient(t)
	theirs.do("read-write", "rw", path, "duke")
	held := acquire(t, ours.Read())
	theirs.acquire("rw/read")
	seen := theirs.do("participants", "rw/read")
	if len(seen.Data) != 2 || seen.Data[0] != "gopher" || seen.Data[1] != "duke" {
		t.Errorf("Curator sees %q with %q", seen.Nodes, seen.Data)
	}
	all, err := ours.Read().Participants(within(t))
	must(t, err)
	if len(all) != 2 || all[0].Node != seen.Nodes[0] || all[1].Node != seen.Nodes[1] || string(all[1].Data) != "duke" {
		t.Errorf("we see %+v; Curator sees %q", all, seen.Nodes)
	}
	release(t, held)
	theirs.do("release", "rw/read")
}
