package recipes_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// TestAReleaseMayReturnBeforeTheNodeIsGone shows the documented result of Release for a session
// that ends meanwhile: a leader that is cut off from the others continues to expire sessions
// until it finds out. A client that connects to it before then is told that its session has
// ended, and its release returns. The next leader gives the session its whole timeout again, and
// the node stands until that has passed.
func TestAReleaseMayReturnBeforeTheNodeIsGone(t *testing.T) {
	needReal(t, "how long a leader goes on without its followers is up to ZooKeeper")
	network, err := links.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { network.Close() })
	// The leader finds out late, after 3 s.
	own := ensembletest.Start(t, ensemble.LocalConfig{TickTime: tick, SyncLimit: 15, Peers: network})
	leader, err := own.Leader(within(t))
	if err != nil {
		t.Fatal(err)
	}
	all := own.Servers()
	follower := leader%len(all) + 1
	link := func(id int) links.Link {
		l, err := network.Link(t.Context(), fmt.Sprintf("%s-%d", t.Name(), id), all[id-1].Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	toLeader, toFollower := link(leader), link(follower)
	cutAll(t, []links.Link{toLeader}, links.Down)
	const short = 1500 * time.Millisecond // the leader ends the session before it steps down
	c := connect(t, []string{toFollower.Addr(), toLeader.Addr()}, recipes.WithSessionTimeout(short))
	l := acquire(t, within(t), recipes.NewMutex(c, uniquePath(t)))

	var peers []links.Link
	for _, s := range all {
		if s.ID != leader {
			peers = append(peers, own.Peer(leader, s.ID)...)
			peers = append(peers, own.Peer(s.ID, leader)...)
		}
	}
	cutAll(t, append(peers, toFollower), links.BlackHole)
	if !l.Valid() {
		t.Fatal("the lease is lost already")
	}
	released := make(chan error, 1)
	go func() { released <- l.Release(within(t)) }() // ends when it returns
	eventually(t, "the leader that is cut off has counted the session down", func() bool {
		printed, err := own.Output(t.Context(), leader)
		return err == nil && bytes.Contains(printed, fmt.Appendf(nil, "Expiring session %#x,", l.SessionID()))
	})
	healAll(t, []links.Link{toLeader})
	if err := <-released; err != nil && !errors.Is(err, recipes.ErrLeaseLost) { // its deadline may have passed before
		t.Fatal(err)
	}
	if status, _, err := ensemble.AskStatus(within(t), all[leader-1]); err != nil || !status.Leads() {
		t.Fatalf("the leader that is cut off has stepped down: %+v, %v", status, err)
	}

	for _, serves := range []bool{false, true} { // the follower gives its leader up, and has another
		eventually(t, fmt.Sprint("the follower serves: ", serves), func() bool {
			status, _, err := ensemble.AskStatus(t.Context(), all[follower-1])
			return err == nil && status.Serving() == serves
		})
	}
	watch, events, err := zk.Connect([]string{all[follower-1].Addr}, patient, zk.WithLogInfo(false), zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		watch.Close()
		for range events {
		}
	})
	there, _, gone, err := watch.ExistsW(l.Node())
	if err != nil || !there {
		t.Fatalf("the node stands: %v, %v", there, err)
	}
	select {
	case <-gone: // the node is deleted with its session
	case <-time.After(patient):
		t.Error("the node stands for ever")
	}
}
