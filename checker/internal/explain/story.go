package explain

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// MaxStory bounds the number of events of a story, so that it can be read at a glance.
const MaxStory = 10

// Pick picks the events of the story of a violation, in order, and returns their places in the
// excerpt, and the number of events that belong to it but are too many.
func Pick(t *facts.Trace, x Excerpt, w verdict.Witness) (places []int, more int) {
	pick := map[int]bool{}
	must := func(i int) {
		if place := x.Place(i); place >= 0 {
			pick[place] = true
		}
	}
	for _, p := range w.Parties {
		if o := opOf(t, p.Invoke); o == nil || o.Store == "" || o.Done < 0 {
			must(p.Invoke) // for a read or a write, the answer is enough
		}
		must(p.Event)
	}
	for _, p := range w.Parties {
		h := under(t, opOf(t, p.Invoke))
		if h == nil {
			continue
		}
		must(h.Acquire.Done)
		must(h.EndEvent)
		if read := readBefore(t, p.Invoke); read != nil {
			must(read.Done)
		}
	}
	for _, wait := range w.Waits {
		for _, waiter := range wait.Told() {
			must(waiter.Invoke)
		}
	}
	for i := range causes(t, x, w) {
		must(i)
	}
	// Then those nearest to the violation, of the same lock.
	var others []int
	for i := range x.Events {
		if !pick[i] && Near(&x.Events[i], w) {
			others = append(others, i)
		}
	}
	away := func(i int) time.Duration { return Away(&x.Events[i], w) }
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(away(a), away(b)) })
	for _, i := range others {
		if len(pick) >= MaxStory {
			break
		}
		pick[i] = true
	}
	story := slices.Sorted(maps.Keys(pick))
	shown := min(len(story), MaxStory)
	return story[:shown], len(story) - shown
}

// Near reports whether an event may be part of the story because it is near to the violation:
// it concerns the same lock.
func Near(e *histories.Event, w verdict.Witness) bool {
	return w.Lock != "" && e.Type != histories.Invoke && slices.Contains(facts.LocksOf(e), w.Lock)
}

// Away returns the distance in time of an event from a violation.
func Away(e *histories.Event, w verdict.Witness) time.Duration {
	return max(w.From-e.Time, e.Time-w.To, 0)
}
