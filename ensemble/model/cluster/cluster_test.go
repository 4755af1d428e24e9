package cluster

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

var lan = Config{Latency: 200 * time.Microsecond, SyncTime: time.Millisecond, Seed: 1}

func TestServersElectALeaderAndServe(t *testing.T) {
	b := newBench(t, lan)
	if at := b.leader(); at == 0 || b.Now() > 3*time.Second {
		t.Errorf("server %d leads after %v", at, b.Now())
	}
}

func TestAWriteThroughOneServerIsReadAtEveryOther(t *testing.T) {
	b := newBench(t, lan)
	b.leader()
	writer := b.dial(b.follower(), time.Second, wire.ConnectResponse{})
	if err := writer.create("/a", wire.FlagPersistent); err != wire.OK {
		t.Fatalf("create: %d", err)
	}
	for _, id := range b.IDs() {
		if err := b.dial(id, time.Second, wire.ConnectResponse{}).exists("/a"); err != wire.OK {
			t.Errorf("server %d: %d", id, err)
		}
	}
}

func TestASessionThatIsSilentExpiresAndItsNodesGo(t *testing.T) {
	b := newBench(t, lan)
	b.leader()
	for _, id := range b.IDs() {
		holder := b.dial(id, time.Second, wire.ConnectResponse{})
		if err := holder.create("/e", wire.FlagEphemeral); err != wire.OK {
			t.Fatalf("create: %d", err)
		}
		began := b.Now()
		watcher := b.dial(b.follower(), time.Minute, wire.ConnectResponse{})
		b.wait("the node is gone", func() bool { return watcher.exists("/e") == wire.NoNode })
		tick := 200 * time.Millisecond
		if took := b.Now() - began; took < time.Second || took > time.Second+2*tick {
			t.Errorf("at server %d the expiry took %v", id, took)
		}
		if again := b.dial(id, time.Second, holder.session); again.session.Timeout != 0 {
			t.Errorf("server %d lets an expired session go on", id)
		}
	}
}

func TestASessionMovesToAnotherServerAndTheOldConnectionEnds(t *testing.T) {
	b := newBench(t, lan)
	leader, follower := b.leader(), b.follower()
	first := b.dial(follower, time.Second, wire.ConnectResponse{})
	second := b.dial(leader, time.Second, first.session)
	if second.session.Session != first.session.Session {
		t.Fatalf("the session has become %#x", second.session.Session)
	}
	if err := second.create("/a", wire.FlagEphemeral); err != wire.OK {
		t.Errorf("create at the new server: %d", err)
	}
	// These are refused before the session is checked.
	if h, _ := first.ask(wire.Reconfig, &wire.ReconfigRequest{Config: -1}); h.Err != wire.ReconfigDisabled {
		t.Errorf("reconfig at the old server: %d", h.Err)
	}
	unknown := wire.Part{Op: wire.Create, Body: &wire.CreateRequest{Path: "/c", ACL: open, Flags: 7}}
	if h, _ := first.ask(wire.Multi, &wire.MultiRequest{Parts: []wire.Part{unknown}}); h.Err != wire.OK {
		t.Errorf("at the old server, a multi that begins with a create of no known kind: %d", h.Err)
	}
	if err := first.create("/b", wire.FlagEphemeral); err != wire.ConnectionLoss || !first.closed {
		t.Errorf("create at the old server: %d", err)
	}
}

func TestAKilledLeaderIsReplacedAndNothingThatWasAnsweredIsLost(t *testing.T) {
	for seed := range uint64(20) {
		config := lan
		config.Seed = seed
		b := newBench(t, config)
		old := b.leader()
		c := b.dial(b.follower(), 10*time.Second, wire.ConnectResponse{})
		for _, path := range []string{"/a", "/b", "/c"} {
			if err := c.create(path, wire.FlagPersistent); err != wire.OK {
				t.Fatal(err)
			}
		}
		b.Kill(old)
		b.wait("another one leads", func() bool {
			for _, id := range b.IDs() {
				if id != old && b.Mode(id) == "leader" {
					return true
				}
			}
			return false
		})
		if err := b.Restart(old); err != nil {
			t.Fatal(err)
		}
		b.leader()
		for _, id := range b.IDs() {
			reader := b.dial(id, 10*time.Second, c.session)
			for _, path := range []string{"/a", "/b", "/c"} {
				if err := reader.exists(path); err != wire.OK {
					t.Errorf("seed %d: server %d has no %s: %d", seed, id, path, err)
				}
			}
		}
	}
}

func TestALeaderWithoutFollowersStopsToServe(t *testing.T) {
	b := newBench(t, lan)
	old := b.leader()
	holder := b.dial(old, time.Minute, wire.ConnectResponse{})
	began := b.Now()
	for _, id := range b.IDs() {
		if id != old {
			b.Link(old, id).Set(Condition{DropRequests: true, DropReplies: true})
			b.Link(id, old).Set(Condition{DropRequests: true, DropReplies: true})
		}
	}
	b.wait("the old leader stops", func() bool { return b.Mode(old) == "" })
	if took := b.Now() - began; took < time.Second || took > 1500*time.Millisecond {
		t.Errorf("with syncLimit × tickTime of a second the old leader took %v", took)
	}
	if !holder.closed {
		t.Error("its client is still connected")
	}
	b.wait("the others go on", func() bool {
		for _, id := range b.IDs() {
			if b.Mode(id) == "leader" {
				return true
			}
		}
		return false
	})
	t.Logf("another leader after %v", b.Now()-began)
	for _, id := range b.IDs() {
		if id != old {
			b.Link(old, id).Set(Condition{})
			b.Link(id, old).Set(Condition{})
		}
	}
	b.leader()
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	run := func() (zxid int64, at time.Duration) {
		b := newBench(t, lan)
		old := b.leader()
		c := b.dial(b.follower(), time.Second, wire.ConnectResponse{})
		c.create("/a", wire.FlagEphemeral)
		b.Kill(old)
		if err := b.Restart(old); err != nil {
			t.Fatal(err)
		}
		b.Advance(b.Now() + time.Minute)
		return b.nodes[old].server.LastZxid(), b.Due()
	}
	zxid, at := run()
	for range 10 {
		if z, a := run(); z != zxid || a != at {
			t.Fatalf("%#x at %v, and then %#x at %v", zxid, at, z, a)
		}
	}
}
