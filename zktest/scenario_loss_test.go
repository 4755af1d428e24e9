package zktest_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// My service loses its lock while it writes: it stops, and another one continues.
func TestMyServiceLosesItsLockWhileItWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		var to ledger
		background(t, connect(t, e, "one"), "one", &to)
		time.Sleep(time.Second) // one has the lock, and writes
		background(t, connect(t, e, "two"), "two", &to)

		e.Client("one").Cut()
		time.Sleep(2 * timeout)
		if got := to.writers(); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("in turn %v have written", got)
		}
	})
}

// A session ends before its timeout while its client is cut off, because an administrator has
// ended it. The client cannot know. Its writes with the old token are refused.
func TestASessionExpiresWhileItsClientIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		var to ledger
		stale := acquire(t, connect(t, e, "one"), "/ledger")
		e.Client("one").Cut()
		e.Client("one").Expire()

		newer := acquire(t, connect(t, e, "two"), "/ledger")
		if !stale.Valid() {
			t.Fatal("the client has heard of it")
		}
		if err := to.write("two", newer.Token()); err != nil {
			t.Error(err)
		}
		if err := to.write("one", stale.Token()); !errors.Is(err, recipes.ErrStaleToken) {
			t.Errorf("a stale write: %v", err)
		}
	})
}

// My process is paused for longer than its session timeout, as by a garbage collection
// or a virtual machine that moves. When it wakes up it believes that it has the lock; the servers
// have ended its session long before.
func TestMyProcessIsPausedForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		var to ledger
		stale := acquire(t, connect(t, e, "one"), "/ledger")
		e.Client("one").Cut() // or it would hear at once that it has slept
		e.Advance(timeout + 2*tick)

		newer := acquire(t, connect(t, e, "two"), "/ledger")
		if !stale.Valid() {
			t.Fatal("the client has heard of it")
		}
		if err := to.write("two", newer.Token()); err != nil {
			t.Error(err)
		}
		if err := to.write("one", stale.Token()); !errors.Is(err, recipes.ErrStaleToken) {
			t.Errorf("a stale write: %v", err)
		}
	})
}

// My service crashes while it has the lock: another one has it within the session
// timeout and a tick or two.
func TestMyServiceCrashesWithTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		acquire(t, connect(t, e, "one"), "/ledger")
		two := connect(t, e, "two")
		e.Client("one").Refuse() // a dead process has no connection
		crashed := time.Now()
		acquire(t, two, "/ledger")
		if took := time.Since(crashed); took < timeout/2 || took > timeout+2*tick {
			t.Errorf("it took %v", took)
		}
	})
}
