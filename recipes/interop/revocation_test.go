package interop_test

import (
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

func TestCuratorAsksUsToRevoke(t *testing.T) {
	path := uniquePath(t)
	asked := make(chan *recipes.Lease, 10)
	ours := recipes.NewMutex(goClient(t), path, recipes.WithRevocation(func(l *recipes.Lease) { asked <- l }))
	theirs := curatorClient(t)
	theirs.do("mutex", "m", path)
	held := acquire(t, ours)
	waiting := theirs.start("acquire", "m")

	nodes := theirs.answer(theirs.startOn("another thread", "participants", "m")).Nodes
	theirs.answer(theirs.startOn("another thread", "revoke", nodes[0]))
	if l := received(t, asked); l.Node() != held.Node() || nodes[0] != held.Node() {
		t.Errorf("asked for %s by naming %s; we hold %s", l.Node(), nodes[0], held.Node())
	}
	waiting.pending(t) // the request does not force the holder
	if !held.Valid() {
		t.Error("the request ended the lease")
	}
	release(t, held)
	theirs.answer(waiting)
	theirs.do("release", "m")
}

func TestWeAskCuratorToRevoke(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	client, theirs := goClient(t), curatorClient(t)
	ours := recipes.NewMutex(client, path)
	asked := make(chan string, 10)
	java.hear(theirs.name, func(a javaAnswer) {
		if a.Event == "revoke" {
			asked <- a.Lock
		}
	})
	t.Cleanup(func() { java.hear(theirs.name, nil) })
	theirs.do("mutex", "m", path)
	theirs.do("revocable", "m")
	theirs.acquire("m")
	us := acquiring(t, ours)
	queued(t, conn, path, 2)

	all, err := ours.Participants(within(t))
	must(t, err)
	must(t, client.Revoke(within(t), all[0].Node))
	if lock := received(t, asked); lock != "m" {
		t.Errorf("Curator was asked for %q", lock)
	}
	us.waits()
	theirs.do("release", "m")
	release(t, us.got())
}
