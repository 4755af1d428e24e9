package facts

import (
	"slices"
	"testing"
	"time"
)

func TestSecondsWithoutAFaultAreCounted(t *testing.T) {
	var p pace
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	answers := func(from float64, n int) {
		for i := range n {
			p.answered(at(from + float64(i)/1000))
		}
	}
	answers(0.1, 9) // not yet running
	p.phase(at(0.5), true)
	answers(0.6, 9) // in a second that was not fully in the chaos phase
	answers(1.1, 7)
	answers(2.1, 5)
	p.faulted(at(2.5))
	answers(3.1, 3)
	p.healed(at(4.5))
	answers(4.6, 4)
	// No answer in the sixth second.
	answers(6.1, 2)
	p.phase(at(7.5), false)
	answers(8.1, 1)
	p.phase(at(9.5), false)
	slices.Sort(p.Counts)
	if want := []int{0, 2, 7}; !slices.Equal(p.Counts, want) {
		t.Errorf("got %v, want %v", p.Counts, want)
	}
}
