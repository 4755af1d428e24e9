package shrink

import (
	"context"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/story"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Task says what a history is shrunk for.
type Task struct {
	Guarantee string
	Target    verdict.Witness // its first violation
	Store     string          // has the counters that the guarantee is about, if it is about counters
	// Decides adds the operations that decide a violation without being one of its
	// parties' to those that stay. It may be nil.
	Decides func(t *facts.Trace, w verdict.Witness, keep map[int]bool)
	NotHeld string // how a release that is answered "not held" is read, for the header
	// Violations returns all violations of the guarantee in a part of the history, as
	// the interval engine sees them, or both.
	Violations func(h *histories.History, both bool) []verdict.Witness
	Progress   func(events int) // is told how many are left; may be nil
}

// shrinker looks for the smallest set of units that still violates.
type shrinker struct {
	Task
	ctx     context.Context
	h       *histories.History
	both    bool            // it takes both engines to see the violation
	known   map[string]bool // the violations of h
	written map[histories.Written]bool
	left    []unit // violates
}

// Shrink returns the smallest part of h that it finds in which the violation is still
// the same. It stops early when ctx ends.
func Shrink(ctx context.Context, h *histories.History, what Task) *histories.History {
	s := newShrinker(ctx, h, what)
	s.narrow()
	return s.history(s.left)
}

func newShrinker(ctx context.Context, h *histories.History, what Task) *shrinker {
	s := &shrinker{Task: what, ctx: ctx, h: h}
	if s.Store != "" {
		s.written = writtenIn(h, s.Store)
	}
	for _, s.both = range []bool{false, true} {
		s.known = map[string]bool{}
		for _, w := range s.Violations(h, s.both) {
			s.known[inWhole(&w, nil)] = true
		}
		if s.known[inWhole(&s.Target, nil)] {
			break
		}
	}
	t := facts.Of(h)
	s.left = units(t)
	keep := story.Explains(t, s.Target)
	if s.Decides != nil {
		s.Decides(t, s.Target, keep)
	}
	for i := range s.left {
		u := &s.left[i]
		u.kept = slices.ContainsFunc(u.events, func(event int) bool { return keep[event] })
	}
	for i := range s.left {
		for u := &s.left[i]; u.kept && u.under >= 0; u = &s.left[u.under] {
			s.left[u.under].kept = true
		}
	}
	return s
}

// narrow shrinks: first to the lock, the processes and the time of the violation, as
// far as those show it, then by leaving out ever smaller parts.
func (s *shrinker) narrow() {
	s.try(func(u unit) bool { return u.lock == "" || u.lock == s.Target.Lock })
	s.try(func(u unit) bool {
		return u.process < 0 || slices.ContainsFunc(s.Target.Parties, func(p verdict.Party) bool { return p.Process == u.process })
	})
	for around := 10 * time.Millisecond; around < time.Hour; around *= 4 {
		if s.try(func(u unit) bool { return u.to >= s.Target.From-around && u.from <= s.Target.To+around }) {
			break
		}
	}
	s.eachOf(func(u unit) int { return u.process })
	s.eachOf(func(u unit) int { return u.events[0] })
}

// eachOf leaves out units of one value, or of several: ever fewer, until nothing
// can go any more.
func (s *shrinker) eachOf(value func(unit) int) {
	var values []int
	for _, u := range s.left {
		if !u.kept {
			values = append(values, value(u))
		}
	}
	slices.Sort(values)
	values = slices.Compact(values)
	for size := max(1, len(values)/2); size >= 1; size /= 2 {
		for again := true; again && s.ctx.Err() == nil; {
			again = false
			for at := 0; at < len(values); {
				some := values[at:min(at+size, len(values))]
				without := func(u unit) bool {
					_, one := slices.BinarySearch(some, value(u))
					return !one
				}
				if s.try(without) {
					values = slices.Delete(slices.Clone(values), at, at+len(some))
					again = size == 1
				} else {
					at += size
				}
			}
		}
	}
}

// try leaves out the units that are not to stay, and what was done under them, if
// the others still violate. It reports whether it left out any.
func (s *shrinker) try(stay func(unit) bool) bool {
	if s.ctx.Err() != nil {
		return false
	}
	there := map[int]bool{}
	var rest []unit
	events := 0
	for _, u := range s.left { // what is done under a unit comes after it
		if u.kept || stay(u) && (u.under < 0 || there[u.under]) {
			there[u.id] = true
			rest = append(rest, u)
			events += len(u.events)
		}
	}
	if len(rest) == len(s.left) || !s.violates(rest) {
		return false
	}
	s.left = rest
	if s.Progress != nil {
		s.Progress(events)
	}
	return true
}

// violates reports whether the violation is in what is left, and no other one that
// is not in the whole history. The interval engine says so: both do in the end.
func (s *shrinker) violates(units []unit) bool {
	h := s.history(units)
	if histories.Validate(h) != nil {
		return false
	}
	events := eventsOf(units)
	target, found := inWhole(&s.Target, nil), false
	for _, w := range s.Violations(h, s.both) {
		name := inWhole(&w, events)
		if !s.known[name] {
			return false
		}
		found = found || name == target
	}
	return found
}
