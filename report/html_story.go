package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// story gathers the events around one violation.
type story struct {
	header    *histories.Header
	guarantee string
	witness   *verdict.Witness
	around    time.Duration // the distance up to which other events are considered

	must []storyLine // the events of its parties
	near []storyLine // other events of the same lock, the nearest ones
	more int         // the number of events that must and near leave out
	seen map[string]bool

	steps   []stepData // the events that led to it, for the timeline
	undrawn int        // the number of those that steps leave out
}

type storyLine struct {
	Time time.Duration
	Line int
	What string
	away time.Duration
}

// The greatest numbers of lines in a story.
const (
	maxMust  = 14
	maxOther = 4
)

// storiesOf begins a story for each recorded violation. Those of one cause stand together.
func storiesOf(header *histories.Header, r *checker.Report) []*story {
	around := max(2*header.SessionTimeout, time.Second)
	var all []*story
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Outcome != verdict.Violated {
			continue
		}
		for j := range v.Witnesses {
			all = append(all, newStory(header, v.Guarantee, &v.Witnesses[j], around))
		}
	}
	first := map[string]int{} // the order of the groups
	for i, s := range all {
		if _, met := first[s.group()]; !met {
			first[s.group()] = i
		}
	}
	slices.SortStableFunc(all, func(a, b *story) int { return first[a.group()] - first[b.group()] })
	return all
}

// group returns the title under which the violation is listed: its cause, or its guarantee if the
// record does not tell the cause.
func (s *story) group() string { return cmp.Or(s.witness.Cause(), s.guarantee) }

func newStory(header *histories.Header, guarantee string, w *verdict.Witness, around time.Duration) *story {
	s := &story{header: header, guarantee: guarantee, witness: w, around: around, seen: map[string]bool{}}
	s.ends()
	return s
}

// step handles event i. Events come in order.
func (s *story) step(i int, e *histories.Event) {
	w := s.witness
	s.leads(i, e)
	if s.mustTell(i, e) {
		if len(s.must) == maxMust {
			s.more++
			return
		}
		s.must = append(s.must, storyLine{Time: e.Time, Line: histories.Line(i), What: tell(s.header, e)})
		return
	}
	if e.Type == histories.Invoke || e.Time < w.From-s.around || e.Time > w.To+s.around || w.Lock == "" || !slices.Contains(locksOf(e), w.Lock) {
		return
	}
	l := storyLine{Time: e.Time, Line: histories.Line(i), away: max(w.From-e.Time, e.Time-w.To, 0)}
	if len(s.near) == maxOther {
		s.more++
		if s.near[maxOther-1].away <= l.away {
			return
		}
	}
	l.What = tell(s.header, e)
	s.near = append(s.near, l)
	slices.SortStableFunc(s.near, func(a, b storyLine) int { return cmp.Compare(a.away, b.away) })
	s.near = s.near[:min(len(s.near), maxOther)]
}

// mustTell reports whether the story needs event e.
func (s *story) mustTell(i int, e *histories.Event) bool {
	w := s.witness
	switch e.Type {
	case histories.FaultStart, histories.FaultStop:
		return len(w.Faults) > 0 && e.Fault.ID == w.Faults[0].ID && e.Fault.Name == w.Faults[0].Name
	case histories.Expired:
		return e.Time <= w.To+s.around && slices.ContainsFunc(w.Parties, func(p verdict.Party) bool { return p.Session != "" && p.Session == e.Session })
	}
	if waits(w, i) {
		return true
	}
	for _, p := range w.Parties {
		if i == p.Event || i == p.Invoke {
			return true
		}
		if e.Process != p.Process || i < p.Event {
			continue
		}
		// The event that ended the party's part, once.
		ends := e.Type == histories.Crash || e.Type == histories.Suspended || e.Type == histories.Lost ||
			(e.Type == histories.Invoke && e.Op == histories.Release && e.Depth <= 1)
		if ends && s.concerns(e) {
			key := p.String() + string(e.Type)
			if e.Time > p.To || s.seen[key] {
				continue
			}
			s.seen[key] = true
			return true
		}
	}
	return false
}

// waits reports whether event i is the call of a process that waits for a lock and does not get it.
func waits(w *verdict.Witness, i int) bool {
	return slices.ContainsFunc(w.Waits, func(x verdict.Wait) bool {
		return slices.ContainsFunc(x.Told(), func(y verdict.Waiter) bool { return y.Invoke == i })
	})
}

// lines returns the story in the order of time.
func (s *story) lines() []storyLine {
	all := append(slices.Clone(s.must), s.near...)
	slices.SortFunc(all, func(a, b storyLine) int { return a.Line - b.Line })
	return all
}
