package recipes_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// lostBeforeItsNodeIsGone fails the test unless the lease is lost before another connection sees
// that its node is gone.
func lostBeforeItsNodeIsGone(t *testing.T, conn outsider, l *recipes.Lease) {
	t.Helper()
	_, _, gone, err := conn.GetW(l.Node())
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
		select {
		case <-l.Lost():
		default:
			t.Error("the servers deleted the lock node while its holder believed in it")
		}
	case <-time.After(patient):
		t.Fatal("the servers do not expire the session")
	}
	if l.Valid() || l.State() != recipes.Lost {
		t.Errorf("valid %v, state %v after the loss", l.Valid(), l.State())
	}
	if cause := context.Cause(l.Context()); !errors.Is(cause, recipes.ErrLeaseLost) {
		t.Errorf("the lease's context has the cause %v", cause)
	}
}

func TestConsul18271ALeaseIsLostBeforeTheServersExpireItsSession(t *testing.T) {
	needReal(t, "when ZooKeeper expires a session is what the lease must be ahead of")
	for _, cut := range []links.Cut{links.Down, links.BlackHole, links.RequestsLost, links.RepliesLost} {
		t.Run(string(cut), func(t *testing.T) {
			path := uniquePath(t)
			a, ls := linked(t)
			c := connect(t, a)
			conn := admin(t)
			m := recipes.NewMutex(c, path)
			l := acquire(t, within(t), m)
			inner := acquire(t, l.Context(), m)
			cutAll(t, ls, cut)
			if cut == links.RepliesLost {
				// The client's requests still keep its session alive: the lease is lost
				// nevertheless, but its node stays.
				<-l.Lost()
			} else {
				lostBeforeItsNodeIsGone(t, conn, l)
			}
			<-inner.Lost()
			healAll(t, ls)
			if err := l.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
				t.Errorf("release: %v, want ErrLeaseLost", err)
			}
			if _, err := m.Acquire(l.Context()); !errors.Is(err, recipes.ErrLeaseLost) {
				t.Errorf("CURATOR-604: acquiring with a lost lease's context: %v, want ErrLeaseLost", err)
			}
			again := acquire(t, within(t), m)
			if again.Token().Compare(l.Token()) <= 0 {
				t.Errorf("token %v after %v", again.Token(), l.Token())
			}
			release(t, again)
			eventually(t, "nothing is left", func() bool { return len(contenders(t, conn, path)) == 0 })
		})
	}
}

// This is the cut that ordinary clients, and Curator's connection states, do not handle: the
// holder keeps its server, and the server loses its peers.
func TestTheHoldersFollowerIsCutOffFromItsPeers(t *testing.T) {
	apart(t)
	for _, test := range []struct {
		name  string
		alone bool // the client knows no other server
	}{
		{"and the client knows no other: it gives up in time", true},
		{"and the client moves on to another: it keeps its lease", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			leader, err := serversOf(t).Leader(within(t))
			if err != nil {
				t.Fatal(err)
			}
			follower := leader%len(addrsOf(t)) + 1
			a, ls := linked(t)
			allowed := []string{a[follower-1]}
			if !test.alone {
				allowed = a
				for i, l := range ls {
					if i != follower-1 {
						if err := l.Cut(within(t), links.Down); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			path := uniquePath(t)
			c := connect(t, allowed)
			leaderConn := adminOf(t, leader)
			l := acquire(t, within(t), recipes.NewMutex(c, path))
			time.Sleep(2 * timeout) // the lease depends on heartbeats now
			for i, link := range ls {
				if i != follower-1 && !test.alone {
					if err := link.Heal(within(t)); err != nil {
						t.Fatal(err)
					}
				}
			}
			var peers []links.Link
			for other := 1; other <= len(addrsOf(t)); other++ {
				if other != follower {
					peers = append(peers, serversOf(t).Peer(follower, other)...)
					peers = append(peers, serversOf(t).Peer(other, follower)...)
				}
			}
			t.Cleanup(func() { healAll(t, peers); awaitQuorum(t) })
			cutAll(t, peers, links.BlackHole)
			if test.alone {
				lostBeforeItsNodeIsGone(t, leaderConn, l)
				return
			}
			select {
			case <-l.Lost():
				t.Error("the lease was lost although two servers were in reach")
			case <-time.After(3 * timeout):
			}
			release(t, l)
		})
	}
}

func TestRedisson2665AForcedExpiryIsToldWithinAHeartbeat(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
	other := connect(t, addrsOf(t))
	l := acquire(t, within(t), recipes.NewMutex(c, path))
	waiting := acquiring(within(t), recipes.NewMutex(other, path))
	expire(t, &wire)
	<-l.Lost()
	next := (<-waiting).ok(t)

	// etcd #22082: a stale release must not free the next holder's lock.
	if err := l.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("release: %v, want ErrLeaseLost", err)
	}
	if _, err := recipes.NewMutex(c, path).TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("the lock is free after a stale release: %v", err)
	}
	var fence recipes.Fence
	if err := fence.Admit(next.Token()); err != nil {
		t.Error(err)
	}
	if err := fence.Admit(l.Token()); !errors.Is(err, recipes.ErrStaleToken) {
		t.Errorf("the fence lets the old holder in: %v", err)
	}
	release(t, next)
}

func TestALockNodeDeletedByAnotherClientIsALoss(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	conn := admin(t)
	l := acquire(t, within(t), recipes.NewMutex(c, path))
	if err := conn.Delete(l.Node(), -1); err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.Lost():
	case <-time.After(patient):
		t.Fatal("the holder is not told")
	}
	// Here the release finds out that the node is gone:
	l = acquire(t, within(t), recipes.NewMutex(c, path))
	if err := conn.Delete(l.Node(), -1); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("release: %v, want ErrLeaseLost", err)
	}
}

func TestAShortCutSuspendsALeaseAndLongOnesEndIt(t *testing.T) {
	for _, test := range []struct {
		name    string
		options []recipes.Option
		lost    bool
	}{
		{"the default keeps it", nil, false},
		{"LoseOnSuspend gives it up", []recipes.Option{recipes.WithLossPolicy(recipes.LoseOnSuspend)}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := uniquePath(t)
			a, ls := linked(t)
			told := make(chan string, 8)
			c := connect(t, a, append(test.options, recipes.WithSessionTimeout(6*time.Second),
				recipes.WithObserver(recipes.Observer{
					Suspended: func(*recipes.Lease) { told <- "suspended" },
					Resumed:   func(*recipes.Lease) { told <- "resumed" },
					Lost:      func(*recipes.Lease, recipes.LossReason, time.Duration) { told <- "lost" },
				}))...)
			l := acquire(t, within(t), recipes.NewMutex(c, path))
			cutAll(t, ls, links.Down)
			if test.lost {
				if got := <-told; got != "lost" {
					t.Errorf("told %q", got)
				}
				<-l.Lost()
				healAll(t, ls)
				return
			}
			// Until all links are cut the lease may resume, and be suspended again.
			last := ""
			awaits := func(state recipes.State, word string) {
				for l.State() != state || last != word {
					select {
					case last = <-told:
					case <-time.After(time.Millisecond):
					case <-l.Lost():
						t.Fatalf("it is lost, and not %v", state)
					}
				}
			}
			awaits(recipes.Suspended, "suspended")
			if !l.Valid() {
				t.Error("it is not valid while it is suspended")
			}
			healAll(t, ls)
			awaits(recipes.Held, "resumed")
			release(t, l)
		})
	}
}

// The release of a lost lease does not look like a release before the loss, not even while it
// begins.
func TestALostLeaseStaysLostWhileItIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		m := recipes.NewMutex(bubbleClient(t, e, "holder"), "/l")
		leases := []*recipes.Lease{acquire(t, t.Context(), m)}
		for range 1000 {
			leases = append(leases, acquire(t, leases[0].Context(), m))
		}
		e.Client("holder").Expire()
		<-leases[0].Lost()
		for _, l := range leases {
			released := make(chan error, 1)
			go func() { released <- l.Release(t.Context()) }()
			for over := false; !over; {
				if err := l.Err(); !errors.Is(err, recipes.ErrLeaseLost) {
					t.Fatalf("state %v, %v", l.State(), err)
				}
				select {
				case err := <-released:
					over = true
					if !errors.Is(err, recipes.ErrLeaseLost) {
						t.Errorf("release: %v", err)
					}
				default:
				}
			}
		}
	})
}

func TestALeaseLivesAsLongAsItsSession(t *testing.T) {
	apart(t)
	path := uniquePath(t)
	l := acquire(t, within(t), recipes.NewMutex(connect(t, addrsOf(t)), path))
	for end := time.Now().Add(3 * timeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if !l.Valid() {
			t.Fatalf("not valid: %v", l.State())
		}
	}
	if left := time.Until(l.Deadline()); left < timeout/4 {
		t.Errorf("only %v left on a healthy link", left)
	}
	release(t, l)
}

// An acquire with the context of a lost lease fails: work under the lost lease that does not stop
// must not continue under another lease.
func TestNothingIsAcquiredInTheNameOfALostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := bubbleClient(t, e, "one")
		m := recipes.NewMutex(c, "/lock")
		l, err := m.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		e.Client("one").Expire()
		<-l.Lost()
		if again, err := m.Acquire(context.WithoutCancel(l.Context())); !errors.Is(err, recipes.ErrLeaseLost) {
			t.Errorf("%v, %v", again, err)
		}
		if other, err := recipes.NewMutex(c, "/other").Acquire(context.WithoutCancel(l.Context())); err != nil {
			t.Errorf("another lock: %v, %v", other, err)
		}
	})
}
