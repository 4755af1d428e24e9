package recipes_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// Requests that were carried out and never answered.

func TestCurator45TheReplyOfTheCreateIsLost(t *testing.T) {
	path := uniquePath(t)
	a, ls := linked(t)
	c := connect(t, a)
	conn := admin(t)
	m := recipes.NewMutex(c, path)
	// A client that gets no reply does not learn that it has to create the directory again.
	persistent(t, conn, path)
	release(t, acquire(t, within(t), m))

	cutAll(t, ls, links.RepliesLost)
	waiting := acquiring(within(t), m)
	eventually(t, "the servers created the node", func() bool { return len(contenders(t, conn, path)) == 1 })
	healAll(t, ls)
	l := (<-waiting).ok(t)
	nodes := contenders(t, conn, path)
	if len(nodes) != 1 || path+"/"+nodes[0] != l.Node() {
		t.Errorf("nodes %v, the lease's is %s", nodes, l.Node())
	}
	if !regexp.MustCompile(`^_c_[0-9a-f-]{36}-lock-\d{10}$`).MatchString(nodes[0]) {
		t.Errorf("CURATOR-190: the name after the retry is %q", nodes[0])
	}
	release(t, l)
	if nodes := contenders(t, conn, path); len(nodes) != 0 {
		t.Errorf("left after the release: %v", nodes)
	}
}

func TestCurator45TheCreateNeverReachedAServer(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
	conn := admin(t)
	wire.on(once(opCreate, cut), nil)
	l := acquire(t, within(t), recipes.NewMutex(c, path))
	if nodes := contenders(t, conn, path); len(nodes) != 1 {
		t.Errorf("nodes: %v", nodes)
	}
	release(t, l)
}

// go-zookeeper's own search cuts the name of every child that begins like a protected node, and
// panics on a shorter name.
func TestTheSearchForANodeOutlivesChildrenWithShortNames(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c, conn := connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), admin(t)
	first := acquire(t, within(t), recipes.NewMutex(c, path))
	short := []string{"_c_", "_c_x"}
	for _, name := range short {
		if _, err := conn.Create(path+"/"+name, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	release(t, first)
	wire.on(nil, once(opCreate, cut))
	l := acquire(t, within(t), recipes.NewMutex(c, path))
	if nodes := contenders(t, conn, path); len(nodes) != 1+len(short) || !slices.Contains(nodes, strings.TrimPrefix(l.Node(), path+"/")) {
		t.Errorf("nodes %v, the lease's is %s", nodes, l.Node())
	}
	release(t, l)
}

func TestCurator264TheSearchAsksALaggingFollower(t *testing.T) {
	needServers(t)
	// The client may use two servers: its first one, and a follower that gets the leader's
	// messages late.
	leader, err := serversOf(t).Leader(within(t))
	if err != nil {
		t.Fatal(err)
	}
	a, ls := linked(t)
	lagging := leader%len(a) + 1
	conn := admin(t)
	path := uniquePath(t)
	// A client that gets no reply does not learn that it has to create the directory again.
	persistent(t, conn, path)

	allowed := []string{a[leader-1], a[lagging-1]}
	if err := ls[lagging-1].Cut(within(t), links.Down); err != nil {
		t.Fatal(err)
	}
	c := connect(t, allowed, recipes.WithSessionTimeout(6*time.Second))
	m := recipes.NewMutex(c, path)
	release(t, acquire(t, within(t), m))

	peers := append(serversOf(t).Peer(lagging, leader), serversOf(t).Peer(leader, lagging)...)
	for _, p := range peers {
		if err := p.Delay(within(t), 250*time.Millisecond, 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		healAll(t, peers)
	})
	if err := ls[leader-1].Cut(within(t), links.RepliesLost); err != nil {
		t.Fatal(err)
	}
	waiting := acquiring(within(t), m)
	eventually(t, "the leader created the node", func() bool { return len(contenders(t, conn, path)) == 1 })
	if err := ls[lagging-1].Heal(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := ls[leader-1].Cut(within(t), links.Down); err != nil {
		t.Fatal(err)
	}
	l := (<-waiting).ok(t)
	if nodes := contenders(t, conn, path); len(nodes) != 1 || path+"/"+nodes[0] != l.Node() {
		t.Errorf("nodes %v, the lease's is %s", nodes, l.Node())
	}
	release(t, l)
}

func TestCurator498TheSessionDiesWhileTheReplyOfTheCreateIsLost(t *testing.T) {
	path := uniquePath(t)
	a, ls := linked(t)
	var wire intercept
	c := connect(t, a, recipes.WithDialer(wire.dial))
	conn := admin(t)
	// A client that gets no reply does not learn that it has to create the directory again.
	persistent(t, conn, path)
	m := recipes.NewMutex(c, path)
	release(t, acquire(t, within(t), m))

	cutAll(t, ls, links.RepliesLost)
	waiting := acquiring(within(t), m)
	eventually(t, "the servers created the node", func() bool { return len(contenders(t, conn, path)) == 1 })
	old := contenders(t, conn, path)[0]
	expire(t, &wire)
	healAll(t, ls)
	l := (<-waiting).ok(t)
	if l.Node() == path+"/"+old {
		t.Error("the dead session's node was adopted")
	}
	_, stat, err := conn.Get(l.Node())
	if err != nil || stat.EphemeralOwner != l.SessionID() {
		t.Errorf("the lease's node: owner %x, %v, session %x", stat.EphemeralOwner, err, l.SessionID())
	}
	release(t, l)
}

func TestAccumulo637TheServerDiesInMidCreate(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t), recipes.WithSessionTimeout(10*time.Second))
	conn := admin(t)
	var wire intercept
	c2 := connect(t, addrsOf(t), recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(10*time.Second))
	release(t, acquire(t, within(t), recipes.NewMutex(c, path)))
	// The reply is cut off at the moment when it arrives, five times over.
	for range 5 {
		wire.on(nil, once(opCreate, cut))
		l := acquire(t, within(t), recipes.NewMutex(c2, path))
		if nodes := contenders(t, conn, path); len(nodes) != 1 {
			t.Errorf("nodes: %v", nodes)
		}
		release(t, l)
	}
}

func TestCurator678TheReleaseIsNotAnswered(t *testing.T) {
	for _, test := range []struct {
		name           string
		request, reply func(int32) bool
	}{
		{"and was not carried out", once(opDelete, cut), nil},
		{"and was carried out", nil, once(opDelete, cut)},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := uniquePath(t)
			var wire intercept
			c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
			conn := admin(t)
			m := recipes.NewMutex(c, path)
			l := acquire(t, within(t), m)
			wire.on(test.request, test.reply)
			if err := l.Release(within(t)); err != nil {
				t.Errorf("release: %v", err)
			}
			if nodes := contenders(t, conn, path); len(nodes) != 0 {
				t.Errorf("left after the release: %v", nodes)
			}
			release(t, acquire(t, within(t), m))
		})
	}
}

func TestCurator112AFailedReleaseLeavesNoStateBehind(t *testing.T) {
	// Netflix/curator 1.1.2: the next acquire "succeeded" without a node.
	path := uniquePath(t)
	a, ls := linked(t)
	c := connect(t, a)
	conn := admin(t)
	m := recipes.NewMutex(c, path)
	owner := recipes.WithOwner(within(t), "owner")
	l := acquire(t, owner, m)
	cutAll(t, ls, links.RequestsLost)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := l.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("release under a cut: %v", err)
	}
	waiting := acquiring(owner, m)
	healAll(t, ls)
	again := (<-waiting).ok(t)
	if nodes := contenders(t, conn, path); len(nodes) != 1 || path+"/"+nodes[0] != again.Node() {
		t.Errorf("nodes %v, the lease's is %s", nodes, again.Node())
	}
	if again.Token().Compare(l.Token()) <= 0 {
		t.Errorf("token %v after %v", again.Token(), l.Token())
	}
	release(t, again)
}

func TestKazoo732TheCleanUpOfAFailedTryIsNotAnswered(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	holder, c := connect(t, addrsOf(t)), connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
	conn := admin(t)
	l := acquire(t, within(t), recipes.NewMutex(holder, path))
	wire.on(once(opDelete, cut), nil)
	if _, err := recipes.NewMutex(c, path).TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("got %v: CURATOR-41, a clean-up that fails must not hide the result", err)
	}
	eventually(t, "the orphan is gone", func() bool { return len(contenders(t, conn, path)) == 1 })
	release(t, l)
	release(t, acquire(t, within(t), recipes.NewMutex(holder, path)))
}
