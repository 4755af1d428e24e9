package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Errors of [Shrink] and [Explain].
var (
	// ErrNotViolated: the history does not violate the guarantee, or any when
	// none is named. Of a named one the error that wraps it says what came of it, and
	// which others are violated.
	ErrNotViolated = errors.New("no guarantee is violated")
	// ErrNoGuarantee: there is none of this name.
	ErrNoGuarantee = errors.New("unknown guarantee")
)

// Shrink returns a part of h, as small as it gets by leaving events out, with the
// first violation of a guarantee that h has: the same parties, from and to the same
// instants, in the same words. It is a valid history, whose header says for which
// guarantee it was shrunk, and [Check] judges it on that one alone. An empty
// guarantee means the first one that is violated, in the order of reports.
//
// The small history has no violation that h has not. What explains the violation
// stays: the fault that its witness names, the ends of the parties' sessions, what a
// party read before it wrote. So does what decides it without being a party: the
// changes of a semaphore's size that were in force, the removes of a barrier that were
// under way. A hold goes whole, with its acquire, its place in the queue, all that
// was done under it, and its release. Of a counter the writes in between may go: the
// header says which values they wrote. Zeller and Hildebrandt, "Simplifying and
// isolating failure-inducing input", 2002.
//
// progress, if not nil, is told how many events are left. Errors:
// [ErrNotViolated], [ErrNoGuarantee], those of [Check].
func Shrink(ctx context.Context, h *histories.History, guarantee string, progress func(events int), opts ...Option) (*histories.History, error) {
	v, err := firstViolated(ctx, h, guarantee, opts)
	if err != nil {
		return nil, err
	}
	g, err := guaranteeNamed(v.Guarantee)
	if err != nil {
		return nil, err
	}
	s := newShrinker(ctx, h, g, v.Witnesses[0], opts)
	s.progress = progress
	s.narrow()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	small := s.history(s.left)
	if r, err := Check(ctx, small, opts...); err != nil {
		return nil, err
	} else if v := r.Verdict(s.guarantee.Name); v == nil || v.Outcome != Violated {
		return nil, fmt.Errorf("checker: bug of zkverify: what was left of the history does not violate %s", s.guarantee.Name)
	}
	return small, nil
}

// firstViolated judges h and returns the verdict on the named guarantee, or on
// the first that is violated.
func firstViolated(ctx context.Context, h *histories.History, guarantee string, opts []Option) (*Verdict, error) {
	if guarantee != "" {
		if _, err := guaranteeNamed(guarantee); err != nil {
			return nil, err
		}
	}
	r, err := Check(ctx, h, opts...)
	if err != nil {
		return nil, err
	}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Outcome == Violated && len(v.Witnesses) > 0 && (guarantee == "" || v.Guarantee == guarantee) {
			return v, nil
		}
	}
	if guarantee == "" {
		return nil, ErrNotViolated
	}
	return nil, r.refuse(guarantee, h.Header.Shrunk)
}

// shrunk makes a note of what was left out of the history. It returns an error if
// there is nothing to judge by what its header says.
func (c *check) shrunk(header *histories.Header) error {
	s := header.Shrunk
	switch {
	case s == nil:
		return nil
	case len(c.judging) > 0:
		c.engines.notes = append(c.engines.notes, fmt.Sprintf("the history was shrunk, from %d events, for a violation of %s: it is judged on nothing else", s.Events, s.Guarantee))
		return nil
	}
	if _, err := guaranteeNamed(s.Guarantee); err != nil {
		return fmt.Errorf("the header says that the history was shrunk for %w", err)
	}
	return fmt.Errorf("%w: the header says that the history was shrunk for %s, which none of its locks has", ErrNoGuarantee, s.Guarantee)
}

// shrinker looks for the smallest set of units that still violates.
type shrinker struct {
	ctx       context.Context
	h         *histories.History
	guarantee Guarantee
	target    Witness
	engine    Engine          // that sees the violation
	known     map[string]bool // the violations of h
	written   map[histories.Written]bool
	progress  func(int)
	opts      []Option
	left      []unit // violates
}

func newShrinker(ctx context.Context, h *histories.History, g Guarantee, target Witness, opts []Option) *shrinker {
	s := &shrinker{ctx: ctx, h: h, guarantee: g, target: target, opts: opts}
	if g.store != "" {
		s.written = writtenIn(h, g.store)
	}
	for _, s.engine = range []Engine{Interval, Both} {
		s.known = map[string]bool{}
		for _, w := range s.violations(h) {
			s.known[w.inWhole(nil)] = true
		}
		if s.known[s.target.inWhole(nil)] {
			break
		}
	}
	t := newTrace(h)
	s.left = t.units()
	keep := t.explains(s.target)
	if g.decides != nil {
		g.decides(t, target, keep)
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
	s.try(func(u unit) bool { return u.lock == "" || u.lock == s.target.Lock })
	s.try(func(u unit) bool {
		return u.process < 0 || slices.ContainsFunc(s.target.Parties, func(p Party) bool { return p.Process == u.process })
	})
	for around := 10 * time.Millisecond; around < time.Hour; around *= 4 {
		if s.try(func(u unit) bool { return u.to >= s.target.From-around && u.from <= s.target.To+around }) {
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
	if s.progress != nil {
		s.progress(events)
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
	target, found := s.target.inWhole(nil), false
	for _, w := range s.violations(h) {
		name := w.inWhole(events)
		if !s.known[name] {
			return false
		}
		found = found || name == target
	}
	return found
}

// violations returns all violations of the guarantee in a part of the history.
func (s *shrinker) violations(h *histories.History) []Witness {
	c := newCheck(s.ctx, append(slices.Clone(s.opts), WithEngine(s.engine), WithTimeLimit(time.Second)))
	c.conventions(&h.Header)
	c.everyOne = true
	t := beginTrace(h.Header)
	j := c.begin(s.guarantee, t)
	t.read(h)
	j.judge.window(&c.engines, t)
	v := c.conclude(j, t)
	if v.Outcome != Violated {
		return nil
	}
	return v.Witnesses
}
