package cluster

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// At the instant at which the clock is due, that much time has passed for the server, and
// not one nanosecond earlier.
func TestAClockIsDueWhenItsTimeHasPassed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var k clock
	at := time.Duration(0)
	for range 10000 {
		if r.IntN(20) == 0 {
			before := k.local(at)
			k.run(at, []float64{1, 0.95, 1.05, 0.5, 1.5, 1.0 / 3}[r.IntN(6)])
			if after := k.local(at); after != before {
				t.Fatalf("the clock jumps from %v to %v", before, after)
			}
		}
		want := k.local(at) + time.Duration(r.Int64N(int64(10*time.Second)))
		due := k.instant(want)
		if due < at || k.local(due) < want || due > at && k.local(due-1) >= want {
			t.Fatalf("at rate %v and %v, %v is due at %v, when it is %v", k.rate, at, want, due, k.local(due))
		}
		at = due
	}
	if k.instant(never) != never {
		t.Errorf("the instant never is %v", k.instant(never))
	}
}

func TestALeaderWithAFastClockEndsASilentSessionEarly(t *testing.T) {
	const timeout, tick = 6 * time.Second, 200 * time.Millisecond
	for _, rate := range []float64{1, 1.5, 0.75} {
		b := newBench(t, lan)
		leader := b.leader()
		b.SetClockRate(leader, rate)
		holder := b.dial(leader, timeout, wire.ConnectResponse{})
		if err := holder.create("/e", wire.FlagEphemeral); err != wire.OK {
			t.Fatalf("create: %d", err)
		}
		began := b.Now()
		watcher := b.dial(b.follower(), time.Minute, wire.ConnectResponse{})
		b.wait("the node is gone", func() bool { return watcher.exists("/e") == wire.NoNode })
		least := time.Duration(float64(timeout) / rate)
		if took := b.Now() - began; took < least-tick || took > least+3*tick {
			t.Errorf("at rate %v the expiry took %v, not %v", rate, took, least)
		}
	}
}

// The clock of a machine goes on when its server's process is started again.
func TestAClockKeepsItsRateWhenTheServerIsStartedAgain(t *testing.T) {
	b := newBench(t, lan)
	leader := b.leader()
	b.SetClockRate(leader, 1.5)
	b.StepClock(leader, time.Hour)
	b.Kill(leader)
	if err := b.Restart(leader); err != nil {
		t.Fatal(err)
	}
	b.leader()
	if k := b.nodes[leader].clock; k.rate != 1.5 || k.stepped != time.Hour {
		t.Errorf("%+v", k)
	}
}

func TestAStepOfTheWallClockChangesWhatNodesSayAndNoSession(t *testing.T) {
	b := newBench(t, lan)
	leader := b.leader()
	c := b.dial(leader, 2*time.Second, wire.ConnectResponse{})
	written := func(path string) time.Duration {
		if err := c.create(path, wire.FlagPersistent); err != wire.OK {
			t.Fatalf("create %s: %d", path, err)
		}
		stat, _ := b.Tree(leader).Stat(path)
		return time.Duration(stat.Ctime) * time.Millisecond
	}
	before := written("/a")
	b.StepClock(leader, time.Hour)
	if after := written("/b"); after-before < time.Hour || after-before > time.Hour+time.Minute {
		t.Errorf("the time was %v, and is %v after a step of an hour", before, after)
	}
	b.StepClock(leader, -2*time.Hour)
	if after := written("/c"); after > before {
		t.Errorf("the time was %v, and is %v after a step back", before, after)
	}
}

// The cluster remembers the instant at which each server is due, and asks again only
// after an input to the server. The remembered instant always equals the server's answer.
func TestWhenAServerIsDueIsKnown(t *testing.T) {
	b := newBench(t, lan)
	b.StepClock(b.leader(), time.Hour)
	r := rand.New(rand.NewPCG(3, 4))
	var clients []*client
	for range 3000 {
		id := b.IDs()[r.IntN(len(b.IDs()))]
		switch r.IntN(12) {
		case 0:
			b.SetClockRate(id, []float64{1, 0.8, 1.25}[r.IntN(3)])
		case 1:
			b.StepClock(id, time.Duration(r.IntN(7200)-3600)*time.Second)
		case 2:
			b.Pause(id)
		case 3:
			b.Kill(id)
		case 4, 5:
			b.Resume(id)
			if !b.Running(id) {
				if err := b.Restart(id); err != nil {
					t.Fatal(err)
				}
			}
		case 6:
			if b.Mode(id) != "" && len(clients) < 50 {
				clients = append(clients, b.dial(id, time.Second, wire.ConnectResponse{}))
			}
		case 7:
			b.Link(id, b.IDs()[(id+1)%len(b.IDs())]).Set(Condition{Refuse: r.IntN(3) == 0})
		}
		b.Advance(b.Now() + time.Duration(r.Int64N(int64(300*time.Millisecond))))
		for id, n := range b.nodes {
			if !n.running {
				continue
			}
			if known, says := n.due(), max(n.lateUntil, n.clock.instant(n.server.Due())); known != says {
				t.Fatalf("at %v server %d is due at %v, and said to be at %v", b.Now(), id, says, known)
			}
		}
	}
}

// A server that goes on after a pause may act late on its timers: it handles messages
// before.
func TestAServerThatGoesOnIsLate(t *testing.T) {
	b := newBench(t, lan)
	leader := b.leader()
	const tick = 200 * time.Millisecond // the default
	late := false
	for range 20 {
		b.Pause(leader)
		b.Advance(b.Now() + tick) // a ping is due
		b.Resume(leader)
		wakes := b.nodes[leader].due() - b.Now()
		if wakes >= wakesWithin {
			t.Errorf("the server wakes %v after it went on", wakes)
		}
		late = late || wakes > wakesWithin/4
		b.Advance(b.Now() + tick)
	}
	if !late {
		t.Error("the server is never late")
	}
}
