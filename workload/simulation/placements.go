package simulation

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
)

// placement is where a strike of the plan edges acts: at a message of a step, and perhaps at a
// second one.
type placement struct {
	Recipe  histories.Recipe `json:"recipe"`
	Step    string           `json:"step"`
	Message int              `json:"message"`
	Act     string           `json:"act"`
	Length  int              `json:"length"` // one of lengths
	Then    string           `json:"then,omitempty"`
	After   int              `json:"after,omitempty"`
	Since   string           `json:"since,omitempty"`
	Lasts   int              `json:"lasts,omitempty"` // the length of the second act; 0: short
}

// The number of messages at which placements of one act, of two, and of two that are close together,
// act: 0 is the beginning of the step. A step that is over before its message leaves the strike out.
// Returns act at one of the first messages after the client is back.
const (
	messagesOfOne = 16
	messagesOfTwo = 8
	messagesNear  = 4
	messagesBack  = 10
)

// digits takes a number apart, the last digit first.
type digits uint64

func (d *digits) of(n int) int {
	digit := *d % digits(n)
	*d /= digits(n)
	return int(digit)
}

// placesOfOne and placesOfTwo return the numbers of placements of one and of two acts, the second
// ones among the first messages.
func placesOfOne(r histories.Recipe, processes bool) uint64 {
	return uint64(len(stepsOf(r)) * len(firsts(processes)) * messagesOfOne)
}

func placesOfTwo(r histories.Recipe, processes bool, messages int) uint64 {
	acts := len(acts(processes))
	return uint64(len(stepsOf(r)) * acts * acts * 2 * messages * messages)
}

// strikesOfAll returns the number of consecutive strikes that go through all placements of a recipe.
func strikesOfAll(r histories.Recipe, processes bool) uint64 {
	return sorts * placesOfTwo(r, processes, messagesOfTwo)
}

// blink is the length of an absence that the client hardly notices.
const blink = 2

// returnOf returns the n-th placement of a client that comes back, and to which something happens then. In
// three of four the client was away for so long that its lease would be over, and its session is not: what
// it is told then proves nothing until the servers have answered a write. A call that gives up before that,
// or a node that goes, does so in an instant of its own. In the others it was away for a moment, and is away
// again until its session is over: what it went on to believe from before shows only then.
func returnOf(r histories.Recipe, processes bool, n uint64) placement {
	steps := stepsOf(r)
	away := slices.DeleteFunc(acts(processes), func(act string) bool { return !isCut(act) && act != pauseAct })
	length, lasts, then := blink, lengths[2], away
	if n%4 == 3 {
		if n /= 4; slices.Contains(steps, stepHold) {
			steps = []string{stepHold}
		}
	} else {
		n -= n / 4
		length, lasts, then = lengths[1], 0, []string{cancelAct, crashAct, cancelAct, deleteAct, cancelAct, expireAct, cancelAct, string(links.Down)}
		steps = slices.DeleteFunc(steps, func(step string) bool { return step == stepHold || step == stepTold })
	}
	all := uint64(len(steps) * len(away) * len(then) * messagesBack)
	d := digits(n % all * jump(all) % all)
	return placement{
		Recipe: r, Step: steps[d.of(len(steps))], Act: away[d.of(len(away))], Length: length,
		Then: then[d.of(len(then))], After: 1 + d.of(messagesBack), Since: sinceHealed, Lasts: lasts,
	}
}

func (p placement) isReturn() bool {
	return p.Then != "" && p.Message == 0 && p.After > 0 && p.Since == sinceHealed && (p.Lasts > 0 || p.Length == lengths[1])
}

// first is an act, and how long it is in force: one of lengths, the shortest for an act that has no
// end.
type first struct {
	act    string
	length int
}

func firsts(processes bool) (all []first) {
	for i, length := range lengths {
		for _, act := range acts(processes) {
			if i == 0 || isCut(act) || act == pauseAct {
				all = append(all, first{act, length})
			}
		}
	}
	return all
}

// sorts is the number of sorts of placements.
const sorts = 4

// placementOf returns the n-th placement of a recipe: those of one act, those of two that are close
// together, those of two, and those of a return take turns. Placements of one act come in the order of
// their messages; those of two jump through all, without coming twice. A first act of two is in force for
// each of lengths in turn.
func placementOf(r histories.Recipe, processes bool, n uint64) placement {
	steps, firsts, acts := stepsOf(r), firsts(processes), acts(processes)
	turn, n := n%sorts, n/sorts
	if turn == 3 {
		return returnOf(r, processes, n)
	}
	if turn == 0 {
		d := digits(n % placesOfOne(r, processes))
		f := firsts[d.of(len(firsts))]
		p := placement{Recipe: r, Act: f.act, Step: steps[d.of(len(steps))], Length: f.length}
		p.Message = d.of(messagesOfOne)
		return p
	}
	messages := []int{messagesNear, messagesOfTwo}[turn-1]
	all := placesOfTwo(r, processes, messages)
	d := digits(n % all * jump(all) % all)
	p := placement{Recipe: r, Act: acts[d.of(len(acts))], Then: acts[d.of(len(acts))], Step: steps[d.of(len(steps))]}
	p.Since = []string{sinceFirst, sinceHealed}[d.of(2)]
	p.Message, p.After = d.of(messages), d.of(messages)
	p.Length = lengths[(n+n/all)%uint64(len(lengths))]
	return p
}

// jump returns a prime near n by the golden ratio, which has no divisor in common with n: multiples
// of it fill the range from 0 to n evenly (Weyl's sequence).
func jump(n uint64) uint64 {
	for p := uint64(float64(n)/math.Phi) | 1; ; p += 2 {
		if new(big.Int).SetUint64(p).ProbablyPrime(0) && n%p != 0 {
			return p
		}
	}
}

func (p placement) params() map[string]string {
	m := map[string]string{stepParam: p.Step, "message": strconv.Itoa(p.Message), "act": p.Act, lengthParam: strconv.Itoa(p.Length)}
	if p.Then != "" {
		m["then"], m[afterParam], m[sinceParam] = p.Then, strconv.Itoa(p.After), p.Since
		if p.Lasts > 0 {
			m[lastsParam] = strconv.Itoa(p.Lasts)
		}
	}
	return m
}
