package cluster

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// These tests hold links between servers to the promises of package ensemble/links.

// pair is a leader, a follower, and the link by which the follower has dialed the leader.
type pair struct {
	*bench
	leader, follower int
	link             *Link
	client           *client // of the follower
	path             string  // of the last create
}

func newPair(t *testing.T) *pair {
	b := newBench(t, Config{Latency: 200 * time.Microsecond, SyncTime: time.Millisecond, Seed: 1, Server: model.Config{SyncLimit: 15}})
	p := &pair{bench: b, leader: b.leader(), path: "/a"}
	p.follower = b.follower()
	p.link = b.Link(p.follower, p.leader)
	p.client = b.dial(p.follower, time.Minute, wire.ConnectResponse{})
	return p
}

// create sends a create through the follower. It returns the time until the answer, or
// false if none comes within half a second.
func (p *pair) create() (took time.Duration, answered bool) {
	p.Helper()
	p.path += "a"
	began, had := p.Now(), len(p.client.frames)
	p.client.say(wire.Create, &wire.CreateRequest{Path: p.path, ACL: open})
	for p.Now() < began+500*time.Millisecond && len(p.client.frames) == had && !p.client.closed {
		p.Advance(min(p.Due(), began+500*time.Millisecond))
	}
	return p.Now() - began, len(p.client.frames) > had
}

// arrived reports whether the leader has carried out the last create.
func (p *pair) arrived() bool {
	p.Helper()
	return p.dial(p.leader, time.Minute, wire.ConnectResponse{}).exists(p.path) == wire.OK
}

// heals makes the link carry messages again, and fails unless the follower serves again
// over a new connection.
func (p *pair) heals(old *stream) {
	p.Helper()
	p.link.Set(Condition{})
	if p.link.open[old] {
		p.Error("the connection that lived through the cut goes on")
	}
	p.wait("the follower serves by another connection", func() bool {
		return len(p.link.open) == 1 && !p.link.open[old] && p.Mode(p.follower) == "follower"
	})
	fresh := p.dial(p.follower, time.Minute, wire.ConnectResponse{})
	if code := fresh.create("/healed", wire.FlagPersistent); code != wire.OK {
		p.Errorf("a create through the follower: %d", code)
	}
}

// only returns the one open connection.
func (p *pair) only() *stream {
	p.Helper()
	if len(p.link.open) != 1 {
		p.Fatalf("%d connections", len(p.link.open))
	}
	return p.link.streams()[0]
}

func TestEachCutStopsWhatItSaysAndItsEndClosesWhatLivedThroughIt(t *testing.T) {
	for name, c := range map[string]struct {
		cut             Condition
		arrives, closes bool
	}{
		"down":       {cut: Condition{Refuse: true}, closes: true},
		"black hole": {cut: Condition{DropRequests: true, DropReplies: true}},
		"lost there": {cut: Condition{DropRequests: true}},
		"lost back":  {cut: Condition{DropReplies: true}, arrives: true},
		"reset":      {cut: Condition{Reset: true}, closes: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			if _, answered := p.create(); !answered {
				t.Fatal("a healthy link carries nothing")
			}
			old := p.only()
			p.link.Set(c.cut)
			p.link.Set(c.cut) // again: no change
			if _, answered := p.create(); answered {
				t.Error("a create is answered through a link that is cut")
			}
			if p.arrived() != c.arrives {
				t.Errorf("the create arrived: %v, want %v", !c.arrives, c.arrives)
			}
			if open := p.link.open[old]; open == c.closes {
				t.Errorf("the connection is open: %v", open)
			}
			p.heals(old)
		})
	}
}

func TestALinkThatLosesOneDirectionCarriesTheOther(t *testing.T) {
	t.Run("to the follower", func(t *testing.T) {
		p := newPair(t)
		reader := p.dial(p.follower, time.Minute, wire.ConnectResponse{})
		p.link.Set(Condition{DropRequests: true})
		if _, answered := p.create(); answered || p.arrived() {
			t.Fatal("the link carries the follower's messages")
		}
		elsewhere := p.dial(p.leader, time.Minute, wire.ConnectResponse{})
		if code := elsewhere.create("/b", wire.FlagPersistent); code != wire.OK {
			t.Fatalf("a create at the leader: %d", code)
		}
		p.wait("the follower hears of it", func() bool {
			h, _ := reader.ask(wire.Exists, &wire.PathWatch{Path: "/b"})
			return h.Err == wire.OK
		})
	})
	t.Run("to the leader", func(t *testing.T) {
		p := newPair(t)
		p.link.Set(Condition{DropReplies: true})
		for range 2 { // the first loses its answer
			if _, answered := p.create(); answered || !p.arrived() {
				t.Fatal("the link carries the leader's messages, or drops the follower's")
			}
		}
	})
}

func TestAnEndThatWasLostIsHeardOfWhenTheLinkIsHealed(t *testing.T) {
	p := newPair(t)
	old := p.only()
	p.link.Set(Condition{DropRequests: true})
	p.Kill(p.follower)
	p.Advance(p.Now() + 100*time.Millisecond)
	if p.nodes[p.leader].streams[old.number] != old {
		t.Fatal("the leader has heard that the follower was killed")
	}
	p.link.Set(Condition{})
	p.Advance(p.Now() + 100*time.Millisecond)
	if p.nodes[p.leader].streams[old.number] == old || p.link.open[old] {
		t.Error("the leader still has the connection")
	}
}

func TestALinkThatRefusesIsNotDialed(t *testing.T) {
	for name, cut := range map[string]Condition{"refused": {Refuse: true}, "reset": {Reset: true}} {
		p := newPair(t)
		p.link.Set(cut)
		p.Advance(p.Now() + 5*time.Second)
		if p.Mode(p.follower) == "follower" {
			t.Errorf("%s: the server still follows", name)
		}
	}
}

func TestACutOfALinkReplacesTheOneBefore(t *testing.T) {
	for name, first := range map[string]Condition{
		"requests lost": {DropRequests: true}, "slow": {Latency: time.Second}, "truncated": {Left: 10000},
	} {
		p := newPair(t)
		p.link.Set(first)
		p.link.Set(Condition{DropReplies: true})
		if _, answered := p.create(); answered || !p.arrived() {
			t.Errorf("%s is still in force after the cut that followed it", name)
		}
	}
}

func TestADelayOfALinkHoldsBackBothWaysAndKeepsConnections(t *testing.T) {
	p := newPair(t)
	old := p.only()
	healthy, _ := p.create()
	for _, latency := range []time.Duration{30 * time.Millisecond, 60 * time.Millisecond} {
		p.link.Set(Condition{Latency: latency, Jitter: latency / 10})
		took, answered := p.create()
		if want := 2 * (latency - latency/10); !answered || took < want || took > 4*latency {
			t.Errorf("with %v each way: answered %v, after %v", latency, answered, took)
		}
	}
	p.link.Set(Condition{Latency: 200 * time.Millisecond, RepliesOnly: true})
	if took, answered := p.create(); !answered || took < 200*time.Millisecond || took > 300*time.Millisecond {
		t.Errorf("with 200 ms on the way back alone: answered %v, after %v", answered, took)
	}
	p.link.Set(Condition{})
	p.Advance(p.Now() + 200*time.Millisecond) // messages under way
	if took, answered := p.create(); !answered || took > 4*healthy {
		t.Errorf("after the delay: answered %v, after %v, and %v before it", answered, took, healthy)
	}
	if p.only() != old {
		t.Error("the connection was replaced")
	}
}

func TestATruncatedLinkClosesEachConnectionAfterSoManyMessages(t *testing.T) {
	p := newPair(t)
	old := p.only()
	p.link.Set(Condition{Left: (old.said[1] + 2) * message})
	p.wait("the connection is closed", func() bool { return !p.link.open[old] })
	if got, want := old.said[1], p.link.Condition().Left/message+2; got != want {
		t.Errorf("the leader sent %d messages on it, of which the last was lost, want %d", got, want)
	}
	p.heals(old)
}

func TestADelayedLinkCanBeCutAndDelayedAgain(t *testing.T) {
	p := newPair(t)
	old := p.only()
	p.link.Set(Condition{Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond})
	if _, answered := p.create(); !answered {
		t.Fatal("a slow link carries nothing")
	}
	p.link.Set(Condition{DropRequests: true, DropReplies: true})
	if _, answered := p.create(); answered {
		t.Fatal("a cut link carries a create")
	}
	p.link.Set(Condition{Latency: 20 * time.Millisecond})
	if p.link.open[old] {
		t.Error("the connection that lived through the cut goes on")
	}
	p.wait("the follower serves", func() bool { return p.Mode(p.follower) != "" })
}

// creates sends n creates through the follower, without waiting for answers.
func (p *pair) creates(n int) {
	for range n {
		p.path += "a"
		p.client.say(wire.Create, &wire.CreateRequest{Path: p.path, ACL: open})
	}
}

func TestAStalledLinkHoldsBackInOrderAndDeliversAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		stall   Condition
		arrives bool
	}{
		"requests": {stall: Condition{HoldRequests: true}},
		"replies":  {stall: Condition{HoldReplies: true}, arrives: true},
		"both":     {stall: Condition{HoldRequests: true, HoldReplies: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			old := p.only()
			p.link.Set(c.stall)
			had := len(p.client.frames)
			p.creates(10)
			p.Advance(p.Now() + 200*time.Millisecond)
			if len(p.client.frames) != had {
				t.Fatal("a create is answered through a link that stalls")
			}
			if p.arrived() != c.arrives {
				t.Errorf("the creates arrived: %v, want %v", !c.arrives, c.arrives)
			}
			p.link.Set(Condition{})
			p.Advance(p.Now() + 20*time.Millisecond)
			if got := len(p.client.frames) - had; got != 10 || !p.arrived() {
				t.Errorf("%d of 10 creates are answered when the stall has ended", got)
			}
			if p.only() != old {
				t.Error("the connection was replaced")
			}
			if _, answered := p.create(); !answered {
				t.Error("the link carries nothing after that")
			}
		})
	}
}

func TestACutLosesWhatAStallHoldsBackInItsDirection(t *testing.T) {
	for name, c := range map[string]struct {
		cut     Condition
		arrives bool
	}{
		"what is held back":   {cut: Condition{DropRequests: true}},
		"the other direction": {cut: Condition{DropReplies: true}, arrives: true},
	} {
		p := newPair(t)
		old := p.only()
		p.link.Set(Condition{HoldRequests: true})
		p.creates(3)
		p.Advance(p.Now() + 20*time.Millisecond)
		had := len(p.client.frames)
		p.link.Set(c.cut)
		p.Advance(p.Now() + 100*time.Millisecond)
		if p.arrived() != c.arrives || len(p.client.frames) != had {
			t.Errorf("%s is lost: the creates arrived: %v, %d answers", name, p.arrived(), len(p.client.frames)-had)
		}
		p.heals(old)
	}
}
