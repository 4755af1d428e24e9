package interop_test

import (
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

// Curator's lock does not report the end of its session: its user has to watch the connection.
// That is early enough when the client is cut off, and later calls of the old holder must not
// affect the new one.
func TestWeAreGrantedTheLockOfACuratorThatWasCutOff(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	addrs, links := linked(t)
	theirs := curatorClientAt(t, addrs)
	theirs.do("mutex", "m", path)
	held := theirs.acquire("m")
	ours := recipes.NewMutex(goClient(t), path)
	waiting := acquiring(t, ours)
	queued(t, conn, path, 2)

	cut(t, links)
	lease := waiting.got()
	if !held.wasLost() {
		t.Error("Curator's holder had not seen SUSPENDED when its lock was given away")
	}
	if !theirs.do("is-acquired", "m").Done {
		t.Error("Curator's mutex knows that it is not held: docs/interop.md says otherwise")
	}
	heal(t, links)
	theirs.do("release", "m") // of a lock that we hold by now
	if !lease.Valid() {
		t.Error("the stale release of Curator's holder ended our lease")
	}
	theirs.refused("m")
	release(t, lease)
	theirs.acquire("m")
	theirs.do("release", "m")
}

func TestCuratorIsGrantedTheLockOfAClientOfOursThatWasCutOff(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	addrs, links := linked(t)
	lease := acquire(t, recipes.NewMutex(goClientAt(t, addrs), path))
	theirs := curatorClient(t)
	theirs.do("mutex", "m", path)
	waiting := theirs.start("acquire", "m")
	queued(t, conn, path, 2)

	cut(t, links)
	theirs.answer(waiting)
	if lease.Valid() || lease.State() != recipes.Lost {
		t.Error("our holder still believed when Curator was granted the lock")
	}
	heal(t, links)
	if lease.Release(within(t)) == nil {
		t.Error("the release of a lost lease says nothing")
	}
	notFree(t, recipes.NewMutex(goClient(t), path))
	theirs.do("release", "m")
}
