package explain

import (
	"testing"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func TestEventsThatAreTooManyAreCounted(t *testing.T) {
	var w verdict.Witness
	for i := range 6 {
		w.Parties = append(w.Parties, verdict.Party{Invoke: 2 * i, Event: 2*i + 1})
	}
	x := Excerpt{Events: make([]histories.Event, 30)}
	if places, more := Pick(new(facts.Trace), x, w); len(places) != MaxStory || more != 12-MaxStory {
		t.Errorf("%v, and %d more", places, more)
	}
	w.Parties = w.Parties[:2]
	if places, more := Pick(new(facts.Trace), x, w); len(places) != 4 || more != 0 {
		t.Errorf("%v, and %d more", places, more)
	}
}
