package simulation

import (
	"math"
	"math/big"
	"strconv"

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
}

// The number of messages at which placements of one act, of two, and of two that are close together,
// act: 0 is the beginning of the step. A step that is over before its message leaves the strike out.
const (
	messagesOfOne = 16
	messagesOfTwo = 8
	messagesNear  = 4
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
	return 3 * placesOfTwo(r, processes, messagesOfTwo)
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

// placementOf returns the n-th placement of a recipe: those of one act, those of two that are close
// together, and those of two take turns. Placements of one act come in the order of their messages;
// those of two jump through all, without coming twice. A first act of two is in force for each of
// lengths in turn.
func placementOf(r histories.Recipe, processes bool, n uint64) placement {
	steps, firsts, acts := stepsOf(r), firsts(processes), acts(processes)
	turn, n := n%3, n/3
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
	}
	return m
}
