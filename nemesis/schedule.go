package nemesis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
)

// Schedule says when which fault strikes, and whom. It is data: it can be drawn,
// see [Draw], written by hand, see [ReadYAML], and taken from a recorded run, see
// [FromHistory].
type Schedule struct {
	Steps []Step `json:"steps"` // by At
}

// Step is one fault of a schedule.
type Step struct {
	At    time.Duration `json:"at"`  // ns since the schedule began
	For   time.Duration `json:"for"` // ns until it is healed
	Fault string        `json:"fault"`
	Pick  fault.Pick    `json:"pick"`
}

// Plan is what a schedule is drawn from.
type Plan struct {
	Seed     int64
	Duration time.Duration
	// SessionTimeout is the measure of all spans.
	SessionTimeout time.Duration
	Kinds          []fault.Kind
	// Weights replaces kinds' own weights, by name. 0 leaves a kind out.
	Weights map[string]int
	// Clients is how many there are: faults hit four of ten at once. Default 10.
	Clients int
}

// A drawn schedule is made of rounds. In the storm, client faults follow each
// other in several lanes, while at most one fault hits servers. In the
// calm everything is healed: there the operations are done that make the
// history long, and there it shows what the storm has broken.
const (
	storm = 3.5 // in session timeouts
	calm  = 1.5
)

// Draw makes the schedule of a plan. The same plan gives the same schedule.
//
// Each kind is drawn from a bag that holds it as often as its weight, shuffled,
// the first bag holding each once: all kinds occur as soon as there is room for
// them. Two rounds (10 session timeouts) are enough for those of clients, and for
// the cuts of the leader and of a holder's follower, which come before all others
// of servers; 70 session timeouts for all. Two of ten faults of a kind, the first
// among them, are aimed at holders, one each at clients that wait, enqueue and
// release, and five at any: where the World is a Chooser, at what was met least.
func Draw(p Plan) Schedule {
	d := drawer{
		plan: p,
		// The second word keeps this stream apart from those of clients.
		rand:  rand.New(rand.NewPCG(uint64(p.Seed), 0x6e656d65736973)),
		dealt: make(map[string]int),
	}
	lanes := 4
	if p.Clients > 0 {
		lanes = max(1, p.Clients*4/10)
	}
	// Faults of clocks are drawn apart: what else a seed draws does not depend on them.
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
		// The last round may be short. Its calm is not: what the last fault
		// broke has to show before the end.
		end := min(start+time.Duration(storm/(storm+calm)*float64(length)), p.Duration-time.Duration(calm/(storm+calm)*float64(length)))
		if !servers.empty() {
			d.lane(servers, start, end, 2)
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

// round is the length of a round: shorter than usual when the whole run is.
func (d *drawer) round() time.Duration {
	return min(time.Duration((storm+calm)*float64(d.plan.SessionTimeout)), d.plan.Duration)
}

// lane fills the time from start to end with faults that do not overlap, at
// most so many of them.
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
		// A forced expiry lasts no time; its client needs some to come back.
		at += max(length, d.plan.SessionTimeout/8) + d.between(d.plan.SessionTimeout/8, d.plan.SessionTimeout/2)
	}
}

// aims are whom the faults of one kind are aimed at, in turn: holders first, who
// have the most to lose. A World that is a Chooser picks, of anyone, who
// does what was met least often.
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

// bag deals kinds so that each comes as often as its weight says and none is
// missing for long.
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
		}
		b.refills++
	}
	k := b.left[0]
	b.left = b.left[1:]
	return k
}

// order is in which turn a kind is dealt first.
func order(k fault.Kind) int {
	if k.Early > 0 {
		return k.Early
	}
	return math.MaxInt
}

// back returns a kind that found no room: it is the next one dealt.
func (b *bag) back(k fault.Kind) { b.left = slices.Insert(b.left, 0, k) }
