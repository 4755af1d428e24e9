package story

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// maxStory bounds a story: it is to be read at a glance.
const maxStory = 10

// Pick picks the events to tell of a violation, in order.
func Pick(t *facts.Trace, w verdict.Witness) []int {
	pick := map[int]bool{}
	must := func(i int) {
		if i >= 0 && i < len(t.Events) {
			pick[i] = true
		}
	}
	for _, p := range w.Parties {
		if o := opOf(t, p.Invoke); o == nil || o.Store == "" || o.Done < 0 {
			must(p.Invoke) // of a read or a write, the answer says it all
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
	for i := range causes(t, w) {
		must(i)
	}
	// Then those nearest to the violation, of the same lock.
	var others []int
	for i := range t.Events {
		e := &t.Events[i]
		if !pick[i] && w.Lock != "" && slices.Contains(facts.LocksOf(e), w.Lock) && e.Type != histories.Invoke {
			others = append(others, i)
		}
	}
	away := func(i int) time.Duration {
		at := t.Events[i].Time
		return max(w.From-at, at-w.To, 0)
	}
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(away(a), away(b)) })
	for _, i := range others {
		if len(pick) >= maxStory {
			break
		}
		pick[i] = true
	}
	story := slices.Sorted(maps.Keys(pick))
	return story[:min(len(story), maxStory)]
}
