package checker

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// maxStory bounds a story: it is to be read at a glance.
const maxStory = 10

// story picks the events to tell of a violation, in order.
func (t *trace) story(w Witness) []int {
	pick := map[int]bool{}
	must := func(i int) {
		if i >= 0 && i < len(t.events) {
			pick[i] = true
		}
	}
	for _, p := range w.Parties {
		if o := t.opOf(p.Invoke); o == nil || o.store == "" || o.done < 0 {
			must(p.Invoke) // of a read or a write, the answer says it all
		}
		must(p.Event)
	}
	for _, p := range w.Parties {
		h := t.under(t.opOf(p.Invoke))
		if h == nil {
			continue
		}
		must(h.acquire.done)
		must(h.endEvent)
		if read := t.readBefore(p.Invoke); read != nil {
			must(read.done)
		}
	}
	for i := range t.causes(w) {
		must(i)
	}
	// Then those nearest to the violation, of the same lock.
	var others []int
	for i := range t.events {
		e := &t.events[i]
		if !pick[i] && w.Lock != "" && slices.Contains(locksOf(e), w.Lock) && e.Type != histories.Invoke {
			others = append(others, i)
		}
	}
	away := func(i int) time.Duration {
		at := t.events[i].Time
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
