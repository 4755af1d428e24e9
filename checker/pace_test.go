package checker

import (
	"reflect"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

func TestSecondsWithoutAFaultAreCounted(t *testing.T) {
	var p pace
	at := func(s float64, typ histories.Type, phase string) {
		p.step(&histories.Event{Time: time.Duration(s * float64(time.Second)), Type: typ, Phase: phase})
	}
	answers := func(from float64, n int) {
		for i := range n {
			at(from+float64(i)/1000, histories.OK, "")
		}
	}
	answers(0.1, 9) // not yet running
	at(0.5, histories.PhaseStart, histories.PhaseChaos)
	answers(0.6, 9) // in a second that it did not run from the beginning
	answers(1.1, 7)
	at(1.2, histories.Invoke, "")
	answers(2.1, 5)
	at(2.5, histories.FaultStart, "")
	answers(3.1, 3)
	at(4.5, histories.FaultStop, "")
	answers(4.6, 4)
	// Nothing in the sixth second.
	answers(6.1, 2)
	at(7.5, histories.PhaseStart, histories.PhaseRecovery)
	answers(8.1, 1)
	at(9.5, histories.PhaseStart, histories.PhaseEnd)
	want := []Figure{
		{"seconds without a fault in force", 3, ""},
		{"operations answered in such a second, least", 0, ""},
		{"operations answered in such a second, median", 2, ""},
	}
	if got := p.figures(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (&pace{}).figures(); got != nil {
		t.Errorf("of no history: %v", got)
	}
}
