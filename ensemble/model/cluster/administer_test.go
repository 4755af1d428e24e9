package cluster

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

func TestTheLeaderEndsASessionThatIsNotSilent(t *testing.T) {
	b := newBench(t, lan)
	leader := b.leader()
	c := b.dial(b.follower(), time.Minute, wire.ConnectResponse{})
	if err := c.create("/e", wire.FlagEphemeral); err != wire.OK {
		t.Fatalf("create: %d", err)
	}
	b.Expire(b.follower(), c.session.Session)
	b.Advance(b.Now() + time.Second)
	if _, there := b.Tree(leader).Stat("/e"); !there {
		t.Fatal("a follower has ended the session")
	}
	b.Expire(leader, c.session.Session)
	b.Advance(b.Now() + time.Second)
	if _, there := b.Tree(leader).Stat("/e"); there {
		t.Error("the session's node is still there")
	}
	if !c.closed {
		t.Error("its connection is still open")
	}
}
