package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// Nodes that remain of rounds whose members crashed, and sessions that end in every phase of a
// round.

// makeReady creates a ready node as Curator does. The directory is a container, which may be
// reaped before the create.
func makeReady(t *testing.T, conn outsider, path string) {
	t.Helper()
	for {
		for i, c := range path + "/" {
			if i > 0 && c == '/' {
				if _, err := conn.Create(path[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) && !errors.Is(err, zk.ErrNoNode) {
					t.Fatal(err)
				}
			}
		}
		_, err := conn.Create(path+"/ready", []byte("127.0.0.1"), 0, zk.WorldACL(zk.PermAll))
		if err == nil {
			return
		}
		if !errors.Is(err, zk.ErrNoNode) {
			t.Fatal(err)
		}
	}
}

// TestCuratorStaleReadyOpensNothing has no issue number: the bug is known from Curator's source.
func TestCuratorStaleReadyOpensNothing(t *testing.T) {
	t.Run("one comes, and later the other", func(t *testing.T) {
		path := uniquePath(t)
		a, b, _, _ := pair(t, path)
		conn := admin(t)
		together(t, a.Enter, b.Enter) // the directory is there
		together(t, a.Leave, b.Leave)
		makeReady(t, conn, path)
		entering := going(within(t), a.Enter)
		awaitMembers(t, conn, path, 1)
		eventually(t, "what was left is cleared away", func() bool { return !exists(t, conn, path+"/ready") })
		eventually(t, "it waits", func() bool { return childWatches(t) == 1 })
		waits(t, entering)
		does(t, b.Enter)
		succeeds(t, entering)
		together(t, a.Leave, b.Leave)
		nothingLeft(t, conn, path)
	})
	t.Run("all members of a round crash inside", func(t *testing.T) {
		path := uniquePath(t)
		conn := admin(t)
		a, b := connect(t, addrsOf(t)), connect(t, addrsOf(t))
		together(t, recipes.NewDoubleBarrier(a, path, 2).Enter, recipes.NewDoubleBarrier(b, path, 2).Enter)
		together(t, a.Close, b.Close)
		awaitMembers(t, conn, path, 0)
		if !exists(t, conn, path+"/ready") {
			t.Fatal("nothing is left: this shows nothing")
		}
		c, d, _, _ := pair(t, path)
		entering := going(within(t), c.Enter)
		eventually(t, "what was left is cleared away", func() bool { return !exists(t, conn, path+"/ready") })
		eventually(t, "it waits", func() bool { return childWatches(t) == 1 })
		waits(t, entering)
		does(t, d.Enter)
		succeeds(t, entering)
		together(t, c.Leave, d.Leave)
		nothingLeft(t, conn, path)
	})
	t.Run("many come at once, again and again", func(t *testing.T) {
		const n = 5
		path := uniquePath(t)
		conn := admin(t)
		clients := []*recipes.Client{connect(t, addrsOf(t)), connect(t, addrsOf(t)), connect(t, addrsOf(t))}
		var all []*recipes.DoubleBarrier
		for i := range n {
			all = append(all, recipes.NewDoubleBarrier(clients[i%3], path, n))
		}
		oracle := newSteps(n)
		for round := range 10 {
			if round > 0 {
				makeReady(t, conn, path)
			}
			var calls []func(context.Context) error
			for _, b := range all {
				calls = append(calls, func(ctx context.Context) error { return oracle.take(ctx, b, round) })
			}
			together(t, calls...)
			nothingLeft(t, conn, path)
		}
		oracle.check(t)
	})
}

// TestCuratorLateDeleteSparesTheNextRound: every member of Curator's that leaves deletes the
// present ready node at the end.
func TestCuratorLateDeleteSparesTheNextRound(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	a, b, wire, _ := pair(t, path)
	c, d, _, _ := pair(t, path)
	together(t, a.Enter, b.Enter)
	together(t, a.Leave, b.Leave)
	makeReady(t, conn, path)

	// a has found the ready node to be stale and is about to delete it.
	reached, goOn := make(chan struct{}), make(chan struct{})
	wire.on(once(opMulti, func() bool { close(reached); <-goOn; return true }), nil)
	ctx, cancel := context.WithCancel(within(t))
	entering := going(ctx, a.Enter)
	<-reached
	// Meanwhile other members do the same, enter, leave and enter again: the present ready node
	// has the same version as the first.
	together(t, c.Enter, d.Enter)
	cancel()
	if err := returns(t, entering); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(goOn)
	awaitMembers(t, conn, path, 2)
	if !exists(t, conn, path+"/ready") {
		t.Error("the ready node of the next round is gone")
	}
	does(t, b.Enter) // joins
	leaving := going(within(t), c.Leave)
	together(t, b.Leave, d.Leave)
	succeeds(t, leaving)
	nothingLeft(t, conn, path)
}

// The round's last member ends it after the list of one that clears it, and another round begins,
// whose ready node has the same version.
func TestTheEndOfARoundSparesTheNextOne(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	a, b, wire, _ := pair(t, path)
	c, d, _, _ := pair(t, path)
	together(t, a.Enter, b.Enter)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	ready := func() int64 {
		_, stat, err := conn.Exists(path + "/ready")
		if err != nil {
			t.Error(err)
		}
		return stat.Czxid
	}
	begun := make(chan int64, 1)
	wire.on(once(opExists, func() bool {
		does(t, b.Leave)
		together(t, c.Enter, d.Enter)
		begun <- ready()
		return true
	}), nil)
	if err := a.Leave(gone); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	round := <-begun
	does(t, a.Enter) // joins, after its clean-up
	if ready() != round {
		t.Error("the ready node of the next round is gone")
	}
	leaving := going(within(t), c.Leave)
	together(t, a.Leave, d.Leave)
	succeeds(t, leaving)
	nothingLeft(t, conn, path)
}

func TestTheLastMemberCrashesWhileTheOthersWaitToLeave(t *testing.T) {
	roles(t, func(t *testing.T, conn outsider, path string, subject, other *recipes.DoubleBarrier, wire *intercept) {
		leaving := going(within(t), other.Leave)
		eventually(t, "the other waits", func() bool { return watchesAt(t, path) == 1 })
		waits(t, leaving)
		expire(t, wire)
		succeeds(t, leaving)
		if err := subject.Leave(within(t)); !errors.Is(err, recipes.ErrMembershipLost) {
			t.Errorf("leave of the member whose session ended: %v", err)
		}
		nothingLeft(t, conn, path)
		together(t, subject.Enter, other.Enter)
		together(t, subject.Leave, other.Leave)
		nothingLeft(t, conn, path)
	})
}

func TestASessionEndsInside(t *testing.T) {
	roles(t, func(t *testing.T, conn outsider, path string, subject, other *recipes.DoubleBarrier, wire *intercept) {
		expire(t, wire)
		awaitMembers(t, conn, path, 1)
		if err := subject.Enter(within(t)); !errors.Is(err, recipes.ErrEntered) {
			t.Errorf("enter without leave: %v", err)
		}
		if err := subject.Leave(within(t)); !errors.Is(err, recipes.ErrMembershipLost) {
			t.Errorf("leave: %v", err)
		}
		// It is not in the round any more, but may wait for its end.
		leaving := going(within(t), subject.Leave)
		eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
		waits(t, leaving)
		does(t, other.Leave)
		succeeds(t, leaving)
		nothingLeft(t, conn, path)
		together(t, subject.Enter, other.Enter)
		together(t, subject.Leave, other.Leave)
		nothingLeft(t, conn, path)
	})
}

func TestASessionEndsInTheWaitToLeave(t *testing.T) {
	roles(t, func(t *testing.T, conn outsider, path string, subject, other *recipes.DoubleBarrier, wire *intercept) {
		leaving := going(within(t), subject.Leave)
		eventually(t, "it waits", func() bool { return watchesAt(t, path) == 1 })
		hadNode := len(members(t, conn, path)) == 2 // the one with the lowest name keeps it
		first, _ := wire.credentials()
		expire(t, wire)
		if hadNode {
			// The other may have left without it.
			if err := returns(t, leaving); !errors.Is(err, recipes.ErrMembershipLost) {
				t.Errorf("leave: %v", err)
			}
			leaving = going(within(t), subject.Leave)
		}
		eventually(t, "it waits in the next session", func() bool {
			now, _ := wire.credentials()
			return now != first && watchesAt(t, path) == 1
		})
		waits(t, leaving)
		does(t, other.Leave)
		succeeds(t, leaving)
		nothingLeft(t, conn, path)
	})
}

func TestASessionEndsInTheWaitToEnter(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	a, b, wire, _ := pair(t, path)
	entering := going(within(t), a.Enter)
	awaitMembers(t, conn, path, 1)
	name := members(t, conn, path)[0]
	expire(t, wire)
	eventually(t, "it waits in its next session", func() bool {
		m := members(t, conn, path)
		return len(m) == 1 && m[0] != name
	})
	waits(t, entering)
	does(t, b.Enter)
	succeeds(t, entering)
	together(t, a.Leave, b.Leave)
	nothingLeft(t, conn, path)
}

func TestASessionEndsWhileTheRoundBegins(t *testing.T) {
	for _, side := range []string{"request", "reply"} {
		t.Run(side, func(t *testing.T) {
			path := uniquePath(t)
			conn := admin(t)
			a, b, wire, _ := pair(t, path)
			other := going(within(t), b.Enter)
			awaitMembers(t, conn, path, 1)
			end := once(opMulti, func() bool { expire(t, wire); return true })
			if side == "request" {
				wire.on(end, nil)
			} else {
				wire.on(nil, end)
			}
			// It enters again in its next session: if the round has begun it joins.
			does(t, a.Enter)
			succeeds(t, other)
			if m := members(t, conn, path); len(m) != 2 {
				t.Errorf("members: %v", m)
			}
			together(t, a.Leave, b.Leave)
			nothingLeft(t, conn, path)
		})
	}
}

func TestASessionEndsAtEachRequestOfARound(t *testing.T) {
	apart(t)
	// No member hangs, a member that is told of the loss was inside, and the next round is
	// complete.
	for _, side := range []string{"request", "reply"} {
		for name, op := range map[string]int32{"create": opCreate, "look": opExists, "list": opChildren, "get": opGetData, "transaction": opMulti} {
			for skip := range 4 {
				t.Run(fmt.Sprintf("%s of %s %d", side, name, skip), func(t *testing.T) {
					path := uniquePath(t)
					conn := admin(t)
					a, b, wire, _ := pair(t, path)
					seen := 0
					hook := func(got int32) bool {
						if got == op {
							if seen++; seen == skip+1 {
								expire(t, wire)
							}
						}
						return true
					}
					if side == "request" {
						wire.on(hook, nil)
					} else {
						wire.on(nil, hook)
					}
					// A member that enters again after the round is over waits for the next
					// round: the other member enters with it if need be.
					done := going(within(t), round(a))
					does(t, round(b))
					eventually(t, "a is through, or waits for the next round", func() bool {
						return len(done) == 1 || len(members(t, conn, path)) == 1
					})
					if len(done) == 0 {
						keepCompany(t, conn, path, b, done)
					} else {
						succeeds(t, done)
					}
					wire.on(nil, nil)
					nothingLeft(t, conn, path)
					together(t, round(a), round(b))
					nothingLeft(t, conn, path)
				})
			}
		}
	}
}

// round enters a barrier and leaves it; a loss in between is no error.
func round(b *recipes.DoubleBarrier) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := b.Enter(ctx); err != nil {
			return err
		}
		err := b.Leave(ctx)
		if errors.Is(err, recipes.ErrMembershipLost) {
			err = b.Leave(ctx)
			if errors.Is(err, recipes.ErrNotEntered) {
				err = nil
			}
		}
		return err
	}
}

// keepCompany makes another round with b, until the call that may wait for a round has returned.
// If the call was only slow to return, b has no other member, and gives up.
func keepCompany(t *testing.T, conn outsider, path string, b *recipes.DoubleBarrier, done <-chan error) {
	t.Helper()
	ctx, giveUp := context.WithCancel(within(t))
	defer giveUp()
	company := going(ctx, round(b))
	succeeds(t, done)
	eventually(t, "b has returned, or waits alone", func() bool {
		return len(company) == 1 || len(members(t, conn, path)) == 1 && !exists(t, conn, path+"/ready")
	})
	giveUp()
	if err := returns(t, company); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCurator315TheOwnNodeOfAMemberIsDeletedBySomebodyElse(t *testing.T) {
	roles(t, func(t *testing.T, conn outsider, path string, subject, other *recipes.DoubleBarrier, wire *intercept) {
		id, _ := wire.credentials()
		remove := func() {
			t.Helper()
			for _, name := range members(t, conn, path) {
				_, stat, err := conn.Get(path + "/" + name)
				if err == nil && stat.EphemeralOwner == id {
					err = conn.Delete(path+"/"+name, -1)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		remove()
		does(t, other.Leave)
		if err := subject.Leave(within(t)); !errors.Is(err, recipes.ErrMembershipLost) {
			t.Errorf("leave: %v", err)
		}
		// When the session ends during the wait in Enter, it enters again.
		entering := going(within(t), subject.Enter)
		awaitMembers(t, conn, path, 1)
		remove()
		awaitMembers(t, conn, path, 1)
		waits(t, entering)
		does(t, other.Enter)
		succeeds(t, entering)
		together(t, subject.Leave, other.Leave)
		nothingLeft(t, conn, path)
	})
}
