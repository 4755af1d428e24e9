package explain

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Task describes the violation that a history is shrunk for.
type Task struct {
	Guarantee string
	Target    verdict.Witness // its first violation, with the indices of the history that is shrunk
	Store     string          // the store of the counters that the guarantee is about; empty if it is about none
	// Decides adds to keep the operations that decide a violation without belonging to its
	// parties. It may be nil.
	Decides func(t *facts.Trace, w verdict.Witness, keep map[int]bool)
	NotHeld string // the reading of a release that is answered "not held", for the header
	// Violations returns all violations of the guarantee in a part of the history that the
	// interval engine finds, or that both engines find.
	Violations func(h *histories.History, both bool) ([]verdict.Witness, error)
	Progress   func(events int) // is called with the number of events left; may be nil

	// The history to shrink may be a part of a whole history. At holds the index of each of its
	// events there, nil if it is the whole; Events is the whole's number of events, Whole
	// yields them, and Known returns its violations.
	At     []int
	Events int
	Whole  iter.Seq2[*histories.Event, error]
	Known  func(both bool) ([]verdict.Witness, error)
}

// shrinker looks for the smallest set of units that still has the violation.
type shrinker struct {
	Task
	ctx     context.Context
	h       *histories.History
	both    bool          // only both engines together find the violation
	known   map[name]bool // the violations of the whole history
	written map[histories.Written]bool
	left    []unit // still has the violation
	err     error  // of reading the history or judging a part: the result is then invalid
}

// Shrink returns the smallest part of h that it finds in which the violation is still the same.
// It returns nil if h, which may be a part, does not show the violation by itself. The error is
// that of reading or judging, or the cause of the end of ctx.
func Shrink(ctx context.Context, h *histories.History, what Task) (*histories.History, error) {
	s, err := newShrinker(ctx, h, what)
	if err != nil {
		return nil, err
	}
	if s.At != nil && !s.violates(s.left) {
		return nil, s.err
	}
	s.narrow()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.history(s.left), nil
}

func newShrinker(ctx context.Context, h *histories.History, what Task) (*shrinker, error) {
	s := &shrinker{Task: what, ctx: ctx, h: h}
	if s.Store != "" {
		if err := s.readWritten(); err != nil {
			return nil, err
		}
	}
	for _, s.both = range []bool{false, true} {
		all, err := s.Known(s.both)
		if err != nil {
			return nil, err
		}
		s.known = map[name]bool{}
		for i := range all {
			s.known[nameOf(&all[i], nil)] = true
		}
		if s.known[nameOf(&s.Target, s.At)] {
			break
		}
	}
	t := facts.Of(h)
	s.left = units(t)
	keep := Explains(t, Excerpt{Events: h.Events}, s.Target)
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
	return s, nil
}

// narrow shrinks: first to the lock, the processes and the time of the violation, as far as
// those show it, then by leaving out ever smaller parts.
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

// eachOf leaves out units by their values, many values at a time and then ever fewer, until
// none can be left out any more.
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
		for again := true; again && s.ctx.Err() == nil && s.err == nil; {
			again = false
			for at := 0; at < len(values) && s.err == nil; {
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

// try leaves out the units that need not stay, and the operations under them, if the others
// still have the violation. It reports whether it left out any.
func (s *shrinker) try(stay func(unit) bool) bool {
	if s.ctx.Err() != nil || s.err != nil {
		return false
	}
	there := map[int]bool{}
	var rest []unit
	events := 0
	for _, u := range s.left { // the operations under a unit come after it
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

// violates reports whether the units have the violation, and no violation that the whole
// history does not have. The interval engine decides; both engines do if only both see the
// violation.
func (s *shrinker) violates(units []unit) bool {
	h := s.history(units)
	if histories.Validate(h) != nil {
		return false
	}
	events := eventsOf(units)
	if s.At != nil {
		for i, place := range events {
			events[i] = s.At[place]
		}
	}
	all, err := s.Violations(h, s.both)
	if err != nil {
		s.err = err
		return false
	}
	target, found := nameOf(&s.Target, s.At), false
	for i := range all {
		name := nameOf(&all[i], events)
		if !s.known[name] {
			return false
		}
		found = found || name == target
	}
	return found
}
