package nemesis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
)

// Schedule is a list of faults with their times and aims. It is data: it can be drawn
// (see [Draw]), written by hand (see [ReadYAML]) or taken from a recorded run (see
// [FromHistory]).
type Schedule struct {
	Steps []Step `json:"steps"` // by At
}

// Step is one fault of a schedule.
type Step struct {
	At    time.Duration `json:"at"`  // ns since the schedule began
	For   time.Duration `json:"for"` // ns until the fault is healed
	Fault string        `json:"fault"`
	Pick  fault.Pick    `json:"pick"`
}

// Plan holds the parameters from which a schedule is drawn.
type Plan struct {
	Seed     int64
	Duration time.Duration
	// SessionTimeout is the unit of all spans.
	SessionTimeout time.Duration
	Kinds          []fault.Kind
	// Weights replaces kinds' own weights, by name. 0 leaves a kind out.
	Weights map[string]int
	// Clients is the number of clients: faults hit four of ten at once. Default 10.
	Clients int
}

// A drawn schedule consists of rounds. In the storm, client faults follow each
// other in several lanes, while at most one fault hits servers. In the
// calm every fault is healed: most operations of the history happen there, and
// damage by the storm shows there.
const (
	storm = 3.5 // in session timeouts
	calm  = 1.5
)

// Draw makes the schedule of a plan. The same plan gives the same schedule.
//
// Kinds are drawn from a shuffled bag that holds each kind as often as its weight.
// The first bag holds each kind once, or an early kind as often as its weight, so all
// kinds occur as soon as there is room for them. Two rounds (10 session timeouts) are
// enough for the faults of clients, and for the cuts of the leader and of a holder's
// follower, which come before all other faults of servers; 75 session timeouts are
// enough for all. Two of ten faults of a kind, the first among them, are aimed at
// holders, one each at clients that wait, enqueue and release, and five at any client:
// if the World is a Chooser, at the clients whose state such faults have met least
// often.
func Draw(p Plan) Schedule {
	d := drawer{
		plan: p,
		// The second word keeps this stream apart from the streams of clients.
		rand:  rand.New(rand.NewPCG(uint64(p.Seed), 0x6e656d65736973)),
		dealt: make(map[string]int),
	}
	lanes := 4
	if p.Clients > 0 {
		lanes = max(1, p.Clients*4/10)
	}
	// Faults of clocks have a stream of their own: the other draws do not depend on them.
	ofClocks := drawer{plan: p, rand: rand.New(rand.NewPCG(uint64(p.Seed), 0x636c6f636b73)), dealt: d.dealt}
	clients, servers, clocks := &bag{}, &bag{}, &bag{}
	for _, k := range p.Kinds {
		weight := k.Weight
		if w, ok := p.Weights[k.Name]; ok {
			weight = w
		}
		b := clients
		switch {
		case k.OfClocks():
			b = clocks
		case k.OfServers():
			b = servers
		}
		if weight > 0 {
			b.kinds, b.weights = append(b.kinds, k), append(b.weights, weight)
		}
	}
	for start, length := time.Duration(0), d.round(); start < p.Duration && length > 0; start += length {
		// The last round may be short. Its calm is not: damage by the last
		// fault has to show before the end.
		end := min(start+time.Duration(storm/(storm+calm)*float64(length)), p.Duration-time.Duration(calm/(storm+calm)*float64(length)))
		if !servers.empty() {
			d.lane(servers, start, end, 3)
		}
		if !clocks.empty() {
			ofClocks.lane(clocks, start, end, 1)
		}
		for range lanes {
			if !clients.empty() {
				d.lane(clients, start, end, 1<<30)
			}
		}
	}
	d.steps = append(d.steps, ofClocks.steps...)
	slices.SortStableFunc(d.steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return Schedule{Steps: d.steps}
}

type drawer struct {
	plan  Plan
	rand  *rand.Rand
	steps []Step
	dealt map[string]int // by kind
}

// round returns the length of a round: shorter than usual if the whole run is.
func (d *drawer) round() time.Duration {
	return min(time.Duration((storm+calm)*float64(d.plan.SessionTimeout)), d.plan.Duration)
}

// lane fills the time from start to end with faults that do not overlap, at
// most the given number of them.
func (d *drawer) lane(b *bag, start, end time.Duration, most int) {
	at := start + d.between(0, d.plan.SessionTimeout/3)
	for range most {
		k := b.next(d.rand)
		least, longest := k.Span(d.plan.SessionTimeout)
		if at+least > end {
			b.back(k)
			return
		}
		length := d.between(least, min(longest, end-at))
		d.steps = append(d.steps, Step{At: at, For: length, Fault: k.Name, Pick: d.pick(k)})
		// A forced expiry takes no time, but its client needs some to come back.
		at += max(length, d.plan.SessionTimeout/8) + d.between(d.plan.SessionTimeout/8, d.plan.SessionTimeout/2)
	}
}

// aims are the aims of the faults of one kind, in turn: holders first, which have the
// most to lose. For the aim anyone, a World that is a Chooser picks the clients whose
// state was met least often.
var aims = []fault.Aim{fault.AtHolder, fault.AtAnyone, fault.AtWaiter, fault.AtAnyone, fault.AtHolder, fault.AtAnyone, fault.AtReleasing, fault.AtAnyone, fault.AtEnqueuing, fault.AtAnyone}

func (d *drawer) pick(k fault.Kind) fault.Pick {
	p := fault.Pick{Aim: aims[d.dealt[k.Name]%len(aims)], Draw: d.rand.Uint32()}
	d.dealt[k.Name]++
	return p
}

func (d *drawer) between(least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(d.rand.Int64N(int64(most-least)))
}

// bag deals kinds so that each comes as often as its weight and none is missing for
// long.
type bag struct {
	kinds   []fault.Kind
	weights []int
	left    []fault.Kind
	refills int
}

func (b *bag) empty() bool { return len(b.kinds) == 0 }

func (b *bag) next(r *rand.Rand) fault.Kind {
	if len(b.left) == 0 {
		for i, k := range b.kinds {
			n := b.weights[i]
			if b.refills == 0 {
				n = 1
			}
			for range n {
				b.left = append(b.left, k)
			}
		}
		r.Shuffle(len(b.left), func(i, j int) { b.left[i], b.left[j] = b.left[j], b.left[i] })
		if b.refills == 0 {
			slices.SortStableFunc(b.left, func(a, b fault.Kind) int { return cmp.Compare(order(a), order(b)) })
			b.again()
		}
		b.refills++
	}
	k := b.left[0]
	b.left = b.left[1:]
	return k
}

// again adds the early kinds that come more than once to the first bag: one after every two kinds
// that are not early.
func (b *bag) again() {
	at := 0
	for at < len(b.left) && b.left[at].Early > 0 {
		at++
	}
	for i, k := range b.kinds {
		for n := 1; k.Early > 0 && n < b.weights[i]; n++ {
			at = min(at+2, len(b.left))
			b.left = slices.Insert(b.left, at, k)
			at++
		}
	}
}

// order returns the position of a kind in the first bag.
func order(k fault.Kind) int {
	if k.Early > 0 {
		return k.Early
	}
	return math.MaxInt
}

// back returns to the bag a kind that found no room: it is the next one dealt.
func (b *bag) back(k fault.Kind) { b.left = slices.Insert(b.left, 0, k) }

// DrawSeed returns a seed for a run without one: less than 1e9, short enough to type. It adds the
// clock, since processes of a seeded Go runtime draw few different numbers.
func DrawSeed() int64 { return (rand.Int64N(1e9) + int64(time.Now().Nanosecond())) % 1e9 }
