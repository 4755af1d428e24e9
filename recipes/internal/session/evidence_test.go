package session

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// world is a model of ZooKeeper as evidence.go describes it: a client, its follower and the
// leader, with a stream each way between any two. A test draws who acts next. Messages may
// wait without bound. The leader pings when a ping is due and its process runs, and the
// follower replies when a ping comes: neither has another clock. Instants are in
// milliseconds.
type world struct {
	tick, now int
	up, down  []request // between client and follower
	under     []request // that the follower has passed on or has to answer, oldest first
	toLeader  []message
	fromIt    []message
	touched   bool // the follower has noted activity since its latest reply to a ping
	due       int  // the leader's next ping
	stopped   bool // the leader's process
	late      int  // when the leader must have pinged after a stop; 0: no ping is late
	stops     int  // that may still come
	counts    int  // the instant from which the leader counts the session down

	asked  int     // requests so far
	acts   [10]int // how often each act of step is drawn, compared with the others
	writes int     // among how many relayed requests there is one write
}

type request struct {
	sent         int
	relay, write bool
}

// message is a ping, the reply to one, a request that is passed on, or its answer.
type message struct{ ping, touch, relay bool }

// rule computes the evidence of a client from its answers.
type rule interface {
	answered(r request, at int)
	counted() int // the send time of the request that counts
}

// grace is the time after a stop within which the leader pings, if it does not stop again.
// It is less than the second spacing of a chain.
const grace = 5

// step makes the action that draw chooses, and passes answers to r.
func (w *world) step(draw func(n int) int, r rule) {
	running := !w.stopped
	switch w.act(draw) {
	case 0: // the client makes a read
		w.ask(request{w.now, false, false})
	case 1: // the client makes a sync or a write
		w.ask(request{w.now, true, draw(w.writes) == 0})
	case 2: // the follower hears the client
		if len(w.up) > 0 {
			q := w.up[0]
			w.up, w.touched = w.up[1:], true
			w.under = append(w.under, q)
			if q.relay {
				w.toLeader = append(w.toLeader, message{relay: true})
			}
		}
	case 3: // the follower answers a read, which waits for earlier requests
		if len(w.under) > 0 && !w.under[0].relay {
			w.down, w.under = append(w.down, w.under[0]), w.under[1:]
		}
	case 4: // the follower hears the leader
		if len(w.fromIt) > 0 {
			m := w.fromIt[0]
			w.fromIt = w.fromIt[1:]
			if m.ping {
				w.toLeader = append(w.toLeader, message{touch: w.touched})
				w.touched = false
				return
			}
			for !w.under[0].relay { // reads, which are answered first
				w.down, w.under = append(w.down, w.under[0]), w.under[1:]
			}
			w.down, w.under = append(w.down, w.under[0]), w.under[1:]
		}
	case 5: // the leader hears the follower
		if running && len(w.toLeader) > 0 {
			m := w.toLeader[0]
			w.toLeader = w.toLeader[1:]
			if m.touch {
				w.counts = w.now
			}
			if m.relay {
				w.fromIt = append(w.fromIt, message{relay: true})
			}
		}
	case 6: // the client hears the follower
		if len(w.down) > 0 {
			r.answered(w.down[0], w.now)
			w.down = w.down[1:]
		}
	case 7:
		if running && w.stops > 0 {
			w.stopped, w.late = true, 0
			w.stops--
		}
	case 8:
		if w.stopped {
			w.stopped = false
			if w.now >= w.due {
				w.late = w.now + grace
			}
		}
	case 9:
		w.wait([]int{1, 10, w.tick * 3 / 10, w.tick/2 + w.tick/16, w.tick}[draw(5)])
	}
}

func (w *world) act(draw func(n int) int) int {
	all := 0
	for _, often := range w.acts {
		all += often
	}
	n := draw(all)
	for i, often := range w.acts {
		if n -= often; n < 0 {
			return i
		}
	}
	panic("unreachable")
}

func (w *world) ask(r request) {
	if len(w.up)+len(w.under) < 3 {
		w.up = append(w.up, r)
		w.asked++
	}
}

// wait lets time pass.
func (w *world) wait(d int) {
	for until := w.now + d; w.now < until; {
		w.now++
		if !w.stopped && w.now >= w.due && w.now >= w.late {
			w.fromIt = append(w.fromIt, message{ping: true})
			w.due, w.late = w.now+w.tick/2, 0
		}
	}
}

// play draws a history. It returns the number of requests that the rule has counted, and
// whether it has counted one that the leader had not.
func play(draw func(n int) int, r rule, tick, stops int) (counted int, early bool) {
	w := world{tick: tick, stops: stops, due: draw(tick / 2), writes: 1 + draw(5)}
	for i := range w.acts {
		w.acts[i] = 1 << draw(4)
	}
	before := 0
	for steps := 0; w.asked < 40 && steps < 1000; steps++ {
		w.step(draw, r)
		if c := r.counted(); c > before {
			before = c
			counted++
			// From this instant on the leader may hear of no more activity.
			if c > w.counts {
				return counted, true
			}
		}
	}
	return counted, false
}

const aTick = 200

// shipped is the rule of evidence.go.
type shipped struct{ e evidence }

func at(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }

func newShipped(tick int) *shipped {
	s := &shipped{evidence{tick: time.Duration(tick) * time.Millisecond}}
	s.e.established(at(0))
	return s
}

func (s *shipped) answered(r request, when int) {
	if r.relay {
		s.e.relayed(at(r.sent), at(when), r.write)
	}
}

func (s *shipped) counted() int { return int(s.e.counted.Sub(at(0)).Milliseconds()) }

// chains counts the first request of a chain with these spacings. It keeps every possible
// chain.
type chains struct {
	spacings  []int
	reads     bool // count too
	pipelined bool // a request need not wait for the answer before it
	parts     []part
	c         int
}

type part struct{ first, last, answers int }

func (c *chains) answered(r request, when int) {
	if !r.relay && !c.reads {
		return
	}
	next := part{r.sent, when, 1}
	for _, p := range append(c.parts, part{}) {
		switch {
		case p.answers == 0: // a chain that begins
		case r.sent >= p.last+c.spacings[p.answers-1]:
			next = part{p.first, when, p.answers + 1}
		default:
			continue
		}
		if c.pipelined {
			next.last = r.sent
		}
		switch {
		case next.answers <= len(c.spacings):
			c.parts = append(c.parts, next)
		case r.write:
			c.c = max(c.c, next.first)
		}
		next = part{r.sent, when, 1}
	}
}

func (c *chains) counted() int { return c.c }

// pairs is the rule of the first releases: a request of any kind counts once a write that
// was sent a tick after its answer has been confirmed. It assumes that the follower replies
// to pings by a clock of its own.
type pairs struct {
	answers []part
	c       int
}

func (p *pairs) answered(r request, when int) {
	for _, a := range p.answers {
		if r.write && r.sent >= a.last+aTick {
			p.c = max(p.c, a.first)
		}
	}
	p.answers = append(p.answers, part{first: r.sent, last: when})
}

func (p *pairs) counted() int { return p.c }

func TestNothingCountsThatTheLeaderHasNotCounted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
		if _, early := play(draw, newShipped(aTick), aTick, 2); early {
			t.Fatal("the client counts a request that the leader has not counted")
		}
	})
}

// More histories than rapid draws, and the rules that are refuted.
func TestRulesOfEvidence(t *testing.T) {
	t.Parallel()
	const half, gap, pause = aTick / 2, aTick/2 + aTick/32 + 2, 10
	for name, test := range map[string]struct {
		rule  func() rule
		stops int
		right bool
	}{
		"the rule, and no stop":                 {func() rule { return newShipped(aTick) }, 0, true},
		"the rule, and two stops":               {func() rule { return newShipped(aTick) }, 2, true},
		"three answers, and no stop":            {func() rule { return &chains{spacings: []int{gap, 0}} }, 0, true},
		"four answers, and a stop":              {func() rule { return &chains{spacings: []int{gap, pause, 0}} }, 1, true},
		"the rule of the first releases":        {func() rule { return new(pairs) }, 0, false},
		"two answers":                           {func() rule { return &chains{spacings: []int{gap}} }, 0, false},
		"reads count":                           {func() rule { return &chains{spacings: []int{gap}, reads: true} }, 0, false},
		"less than half a tick":                 {func() rule { return &chains{spacings: []int{gap - half/2, 0}} }, 0, false},
		"requests that do not wait for answers": {func() rule { return &chains{spacings: []int{gap, 0}, pipelined: true} }, 0, false},
		"a write counts itself":                 {func() rule { return &chains{} }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted := 0
			for seed := range uint64(100_000) {
				n, early := play(rand.New(rand.NewPCG(seed, 0)).IntN, test.rule(), aTick, test.stops)
				counted += n
				switch {
				case early && test.right:
					t.Fatalf("seed %d: the client counts a request that the leader has not counted", seed)
				case early:
					t.Logf("refuted by history %d", seed)
					return
				case test.right && seed > 2000 && counted > 100:
					return
				}
			}
			t.Errorf("in %d histories requests were counted %d times, and never too early", 100_000, counted)
		})
	}
}

func TestEvidenceGrowsWithBeats(t *testing.T) {
	t.Parallel()
	e := evidence{tick: aTick * time.Millisecond}
	e.established(at(0))
	for beat := 400; beat <= 40_000; beat += 400 {
		now := beat
		for answers := range links {
			now += int(e.spacing(answers)/time.Millisecond) + 1
			e.relayed(at(now), at(now), answers == links-1)
		}
		if want := at(beat + 1); !e.counted.Equal(want) {
			t.Fatalf("counted %v, want %v", e.counted.Sub(at(0)), want.Sub(at(0)))
		}
	}
}

func TestAReconnectCountsWithAConfirmedWrite(t *testing.T) {
	t.Parallel()
	e := evidence{tick: aTick * time.Millisecond}
	e.established(at(0))
	for ms := range 2000 { // chains that lack a write
		e.relayed(at(ms), at(ms), false)
	}
	e.reconnected(at(2000))
	e.relayed(at(2001), at(2001), false)
	if !e.counted.Equal(at(0)) {
		t.Errorf("counted %v without a write", e.counted.Sub(at(0)))
	}
	e.relayed(at(2002), at(2002), true)
	if !e.counted.Equal(at(2000)) {
		t.Errorf("counted %v after the write, want 2s: chains end with their connection", e.counted.Sub(at(0)))
	}
}

// Few chains are kept, for any number of answers, and they count as much as if all chains were
// kept: also while many requests are under way, and whether all of them are writes or the last.
func TestFewChainsAreKept(t *testing.T) {
	t.Parallel()
	for name, interval := range map[string]int{"a busy session": 1, "some requests": 30, "a beat now and then": 700} {
		for _, trip := range []int{0, 1, aTick / 20, aTick / 10, aTick / 4, aTick, 3 * aTick} {
			for _, writes := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, round trips of %d ms, writes %v", name, trip, writes), func(t *testing.T) {
					e := evidence{tick: aTick * time.Millisecond}
					e.established(at(0))
					// At the most a chain is kept back for a sixteenth of a tick, and each spacing
					// is rounded up to the next answer.
					oldest := int(e.spacing(1)+e.spacing(2)+e.spacing(3))/int(time.Millisecond) + aTick/16 + 5*interval + 5*trip
					for sent := interval; sent <= 5000*interval; sent += interval {
						now, last := sent+trip, sent == 5000*interval
						e.relayed(at(sent), at(now), writes || last)
						kept := 0
						for _, chains := range e.chains {
							kept += len(chains)
						}
						if most := 24 + 4*16*trip/aTick; kept > most {
							t.Fatalf("%d chains are kept, for %d", kept, most)
						}
						if age := at(now).Sub(e.counted); (writes || last) && age > time.Duration(oldest)*time.Millisecond {
							t.Fatalf("at %d ms what counts is %v old, at most %d ms were due", now, age, oldest)
						}
					}
				})
			}
		}
	}
}
