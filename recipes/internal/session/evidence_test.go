package session

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// cluster is a model of what evidence.go says of ZooKeeper, in virtual time: a
// client linked to a follower, the follower linked to the leader by an ordered
// stream, random delays everywhere, and a cut between the two servers.
type cluster struct {
	tick, timeout time.Duration
	expiry        time.Duration // at the leader
}

type message struct {
	touch  bool // a ping reply with the session in it
	write  int  // index of a forwarded write, or -1
	sentBy time.Duration
}

// run plays one history and returns the latest deadline that the evidence ever
// claimed, and the expiry that the leader really counted.
func (c *cluster) run(t *rapid.T) (deadline, expiry time.Duration) {
	ms := time.Millisecond
	slowest := rapid.SampledFrom([]int{0, 2, 20, 400}).Draw(t, "slowest")
	delay := func(label string) time.Duration { return time.Duration(rapid.IntRange(0, slowest).Draw(t, label)) * ms }
	longest := rapid.SampledFrom([]int{20, 100, 300, 600}).Draw(t, "longest gap")
	const span = 3 * time.Second

	type request struct {
		sent, arrived time.Duration
		write         bool
	}
	var requests []request
	for now := time.Duration(0); now < span; now += time.Duration(rapid.IntRange(5, longest).Draw(t, "gap")) * ms {
		arrived := now + delay("up")
		if n := len(requests); n > 0 {
			arrived = max(arrived, requests[n-1].arrived) // one ordered connection
		}
		requests = append(requests, request{now, arrived, rapid.Bool().Draw(t, "write")})
	}
	// The worst cut falls just after the follower sent a write on.
	cut := requests[rapid.IntRange(0, len(requests)-1).Draw(t, "cut")].arrived + 1
	// The follower: what it sends to the leader, in order.
	var stream []message
	phase := time.Duration(rapid.IntRange(0, int(c.tick/2/ms)).Draw(t, "phase")) * ms
	next, touched := 0, false
	until := func(now time.Duration) {
		for next < len(requests) && requests[next].arrived <= now {
			touched = true
			if requests[next].write {
				stream = append(stream, message{sentBy: requests[next].arrived, write: next})
			}
			next++
		}
	}
	for ping := phase; ping < span; ping += c.tick / 2 {
		until(ping)
		stream = append(stream, message{sentBy: ping, touch: touched, write: -1})
		touched = false
	}
	// The leader: takes what was sent before the cut.
	c.expiry = c.timeout // the session began at 0
	taken := make(map[int]time.Duration)
	last := time.Duration(0)
	for _, m := range stream {
		if m.sentBy >= cut {
			break
		}
		last = max(last, m.sentBy+delay("forward"))
		if m.touch {
			c.expiry = max(c.expiry, last+c.timeout)
		}
		if m.write >= 0 {
			taken[m.write] = last
		}
	}
	// The client: answers come back in order; a write that the leader did not
	// take holds back everything after it.
	origin := time.Unix(0, 0)
	e := evidence{tick: c.tick}
	e.established(origin)
	latest := e.deadline(c.timeout)
	back := time.Duration(0)
	for i, r := range requests {
		at := r.arrived
		if r.write {
			done, ok := taken[i]
			if !ok {
				break
			}
			at = done
		}
		back = max(back, at+delay("down"))
		if r.write {
			e.confirmed(origin.Add(r.sent))
		}
		e.answered(origin.Add(r.sent), origin.Add(back))
		if d := e.deadline(c.timeout); d.After(latest) {
			latest = d
		}
	}
	return latest.Sub(origin), c.expiry
}

func TestTheDeadlineNeverLiesBehindTheLeadersExpiry(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := cluster{tick: 200 * time.Millisecond, timeout: 2 * time.Second}
		deadline, expiry := c.run(t)
		// Without the margin: the rule itself must hold.
		if deadline+margin(c.timeout) > expiry {
			t.Fatalf("the lease is believed until %v, the leader expires the session at %v", deadline+margin(c.timeout), expiry)
		}
	})
}

func TestEvidenceGrowsWhileBeatsAreConfirmed(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	e := evidence{tick: 200 * time.Millisecond}
	e.established(at(0))
	for ms := 300; ms <= 30_000; ms += 300 {
		e.confirmed(at(ms))
		e.answered(at(ms), at(ms+10))
	}
	// The last beat that counts is the one before the last.
	if want := at(29_700); !e.counted.Equal(want) {
		t.Errorf("counted %v, want %v", e.counted.Sub(at(0)), want.Sub(at(0)))
	}
	if len(e.touches) > 16 {
		t.Errorf("%d touches kept", len(e.touches))
	}
}

func TestWhatCountsAsEvidence(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	for _, test := range []struct {
		name  string
		steps func(e *evidence)
		want  int // counted, ms
	}{
		{"a new session counts at once", func(*evidence) {}, 0},
		{"pings and reads alone never count", func(e *evidence) {
			for ms := 100; ms < 3000; ms += 100 {
				e.answered(at(ms), at(ms+5))
			}
		}, 0},
		{"a write does not count itself", func(e *evidence) { e.confirmed(at(500)); e.answered(at(500), at(510)) }, 0},
		{"a request counts when a write a tick after its answer is confirmed", func(e *evidence) {
			e.answered(at(500), at(510))
			e.confirmed(at(710))
		}, 500},
		{"it does not when the write left less than a tick after the answer", func(e *evidence) {
			e.answered(at(500), at(650))
			e.confirmed(at(710))
		}, 0},
		{"a reconnect counts when a write was confirmed on it", func(e *evidence) {
			e.reconnected(at(1000))
			e.confirmed(at(1001))
		}, 1000},
		{"a reconnect alone does not count", func(e *evidence) { e.reconnected(at(1000)) }, 0},
		{"requests on the old connection do not count by writes on the new", func(e *evidence) {
			e.answered(at(900), at(910))
			e.reconnected(at(950))
			e.reconnect = time.Time{} // as if the reconnect itself proved nothing
			e.confirmed(at(2000))
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := evidence{tick: 200 * time.Millisecond}
			e.established(at(0))
			test.steps(&e)
			if !e.counted.Equal(at(test.want)) {
				t.Errorf("counted %v, want %d ms", e.counted.Sub(at(0)), test.want)
			}
		})
	}
}

func TestIdleSessionsKeepLittleEvidence(t *testing.T) {
	t.Parallel()
	e := evidence{tick: 200 * time.Millisecond}
	now := time.Unix(0, 0)
	e.established(now)
	for range 10_000 {
		now = now.Add(500 * time.Millisecond)
		e.answered(now, now.Add(time.Millisecond))
	}
	if len(e.touches) > 4 {
		t.Errorf("%d touches kept", len(e.touches))
	}
	if !slices.IsSortedFunc(e.touches, func(a, b touch) int { return a.sent.Compare(b.sent) }) {
		t.Error("touches out of order")
	}
}

func TestBusySessionsKeepLittleEvidence(t *testing.T) {
	t.Parallel()
	e := evidence{tick: 80 * time.Millisecond}
	now := time.Unix(0, 0)
	e.established(now)
	for range 80 { // a tick
		e.answered(now, now)
		now = now.Add(time.Millisecond)
	}
	if len(e.touches) != 8 {
		t.Errorf("%d touches kept of a tick", len(e.touches))
	}
}
