package checker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Errors of [Shrink] and [Explain].
var (
	// ErrNotViolated: the history does not violate the guarantee, or any when
	// none is named.
	ErrNotViolated = errors.New("no guarantee is violated")
	// ErrNoGuarantee: there is none of this name.
	ErrNoGuarantee = errors.New("no such guarantee")
)

// Shrink returns a sub-history of h, as small as it gets by leaving things out,
// with the first violation of a guarantee that h has: among the same parties, at
// the same time. It is a valid history, and [Check] judges it violated. An empty
// guarantee means the first one that is violated, in the order of reports.
//
// What decides a violation without being a party to it stays: the changes of a
// semaphore's size that were in force when its parties were granted their permits,
// and the removes of a barrier that were under way. What is left out goes whole: a hold with its acquire, its place in the queue, its
// re-entries, what was done under it, and its release, so that the violation is
// none of the shrinking's making. Zeller and Hildebrandt, "Simplifying and
// isolating failure-inducing input", 2002.
//
// progress, if not nil, is told how many events are left. Errors:
// [ErrNotViolated], those of [Check].
func Shrink(ctx context.Context, h *histories.History, guarantee string, progress func(events int), opts ...Option) (*histories.History, error) {
	v, err := firstViolated(ctx, h, guarantee, opts)
	if err != nil {
		return nil, err
	}
	s := &shrinker{ctx: ctx, h: h, guarantee: v.Guarantee, target: v.Witnesses[0], progress: progress, opts: opts}
	t := newTrace(h)
	all := s.units(t)
	decides := t.decides(v.Guarantee, s.target)
	s.kept = slices.DeleteFunc(slices.Clone(all), func(u unit) bool { return !decides(u.events[0]) })
	s.narrow(slices.DeleteFunc(all, func(u unit) bool { return decides(u.events[0]) }))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	small := s.history(s.left)
	if r, err := Check(ctx, small, opts...); err != nil {
		return nil, err
	} else if v := r.Verdict(s.guarantee); v == nil || v.Outcome != Violated {
		return nil, fmt.Errorf("checker: bug of zkverify: what was left of the history does not violate %s", s.guarantee)
	}
	return small, nil
}

// firstViolated judges h and returns the verdict on the named guarantee, or on
// the first that is violated.
func firstViolated(ctx context.Context, h *histories.History, guarantee string, opts []Option) (*Verdict, error) {
	if guarantee != "" && !slices.ContainsFunc(guarantees, func(g Guarantee) bool { return g.Name == guarantee }) {
		return nil, fmt.Errorf("%w: %q", ErrNoGuarantee, guarantee)
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
	if guarantee != "" {
		return nil, fmt.Errorf("%s: %w", guarantee, ErrNotViolated)
	}
	return nil, ErrNotViolated
}

// shrinker looks for the smallest set of units that still violates.
type shrinker struct {
	ctx       context.Context
	h         *histories.History
	guarantee string
	target    Witness
	progress  func(int)
	opts      []Option
	kept      []unit // whatever happens
	left      []unit // violates, with those
}

// unit is what is left out together, or not.
type unit struct {
	events   []int // indices, in order
	lock     string
	from, to time.Duration
}

// units takes a history apart.
func (s *shrinker) units(t *trace) []unit {
	of := map[int]int{} // event to the event that names its unit
	root := func(i int) int {
		for {
			up, ok := of[i]
			if !ok || up == i {
				return i
			}
			i = up
		}
	}
	join := func(a, b int) {
		if a, b := root(a), root(b); a != b {
			of[max(a, b)] = min(a, b)
		}
	}
	for _, o := range t.ops {
		if o.done >= 0 {
			join(o.invoke, o.done)
		}
		for _, p := range o.places {
			join(o.invoke, p.event)
		}
		if o.hold != nil {
			join(o.hold.acquire.invoke, o.invoke)
		}
	}
	for _, h := range t.holds {
		if h.endEvent >= 0 && h.why != byCrashing {
			join(h.acquire.invoke, h.endEvent)
		}
	}
	starts := map[int]int{}
	for i := range s.h.Events {
		switch e := &s.h.Events[i]; e.Type {
		case histories.FaultStart:
			starts[e.Fault.ID] = i
		case histories.FaultStop:
			join(starts[e.Fault.ID], i)
		}
	}
	byRoot := map[int]*unit{}
	for i := range s.h.Events {
		e := &s.h.Events[i]
		u := byRoot[root(i)]
		if u == nil {
			u = &unit{lock: e.Lock, from: e.Time}
			byRoot[root(i)] = u
		}
		u.events, u.to = append(u.events, i), e.Time
	}
	var all []unit
	for _, i := range slices.Sorted(maps.Keys(byRoot)) {
		all = append(all, *byRoot[i])
	}
	return all
}

// narrow shrinks: first to the lock and the time of the violation, as far as
// those show it, then by leaving out ever smaller parts.
func (s *shrinker) narrow(all []unit) {
	s.left = all
	s.try(slices.DeleteFunc(slices.Clone(s.left), func(u unit) bool { return u.lock != "" && u.lock != s.target.Lock }))
	for around := 10 * time.Millisecond; around < time.Hour; around *= 4 {
		if s.try(slices.DeleteFunc(slices.Clone(s.left), func(u unit) bool {
			return u.to < s.target.From-around || u.from > s.target.To+around
		})) {
			break
		}
	}
	for size := len(s.left) / 2; size >= 1; size /= 2 {
		for again := true; again; {
			again = false
			for at := 0; at < len(s.left); {
				rest := slices.Concat(s.left[:at], s.left[min(at+size, len(s.left)):])
				if s.try(rest) {
					again = size == 1
				} else {
					at += size
				}
			}
		}
	}
}

// try leaves out what is not in these units, if they still violate.
func (s *shrinker) try(units []unit) bool {
	if s.ctx.Err() != nil || len(units) == len(s.left) || !s.violates(units) {
		return false
	}
	s.left = units
	if s.progress != nil {
		n := 0
		for _, u := range slices.Concat(units, s.kept) {
			n += len(u.events)
		}
		s.progress(n)
	}
	return true
}

// violates reports whether the violation is in what is left. The interval engine
// says so: both do in the end.
func (s *shrinker) violates(units []unit) bool {
	h := s.history(units)
	if histories.Validate(h) != nil {
		return false
	}
	c := newCheck(s.ctx, append(slices.Clone(s.opts), WithEngine(Interval)))
	g := guarantees[slices.IndexFunc(guarantees, func(g Guarantee) bool { return g.Name == s.guarantee })]
	j, t := g.judge(), newTrace(h)
	j.window(c, t)
	v := j.verdict(c, t)
	c.conclude(&v, g)
	return v.Promised && v.Outcome == Violated && slices.ContainsFunc(v.Witnesses, s.target.same)
}

// same reports whether two witnesses are of one violation, in histories of which
// one is a part of the other.
func (w Witness) same(other Witness) bool {
	return w.Lock == other.Lock && w.From == other.From && slices.EqualFunc(w.Parties, other.Parties, func(a, b Party) bool {
		return a.Process == b.Process && a.Token == b.Token && a.From == b.From
	})
}

// history is the sub-history of some units.
func (s *shrinker) history(units []unit) *histories.History {
	var events []int
	for _, u := range slices.Concat(units, s.kept) {
		events = append(events, u.events...)
	}
	slices.SortFunc(events, cmp.Compare)
	h := &histories.History{Header: s.h.Header}
	used := map[string]bool{}
	for _, i := range events {
		e := s.h.Events[i]
		for _, lock := range locksOf(&e) {
			used[lock] = true
		}
		h.Events = append(h.Events, e)
	}
	if h.Header.Locks != nil {
		h.Header.Locks = maps.Clone(h.Header.Locks)
		maps.DeleteFunc(h.Header.Locks, func(lock string, _ histories.Lock) bool { return !used[lock] })
		if len(h.Header.Locks) == 0 {
			h.Header.Locks = s.h.Header.Locks
		}
	}
	h.Header.Options = maps.Clone(h.Header.Options)
	if h.Header.Options == nil {
		h.Header.Options = map[string]string{}
	}
	h.Header.Options["shrunk"] = "from " + strconv.Itoa(len(s.h.Events)) + " events, for " + s.guarantee
	return h
}
