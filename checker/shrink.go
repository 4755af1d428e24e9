package checker

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/explain"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Shrink returns the smallest part of h that it finds, by leaving events out, with the first
// violation of a guarantee in h: the same parties, the same start and end, the same sentence.
// The part is a valid history. Its header names the guarantee it was shrunk for, and [Check]
// judges it on that one alone. An empty guarantee stands for the first violated one, in the
// order of reports.
//
// The part has no violation that h does not have. It keeps the events that explain the
// violation: the fault that its witness names, the ends of the parties' sessions, the value
// that a party read before it wrote. It also keeps events that decide the violation without
// belonging to a party: the changes of a semaphore's size that were in force, the removes of a
// barrier that were under way. A hold is left out as a whole, with its acquire, its place in
// the queue, all operations under it, and its release. Writes of a counter between the kept
// ones may be left out: the header lists the values that they wrote. The servers' log
// ([WithService]) is not shrunk, and is needed to judge the part on [FirstNode]. Zeller and
// Hildebrandt, "Simplifying and isolating failure-inducing input", 2002.
//
// progress, if not nil, is called with the number of events that are left. Errors:
// [ErrNotViolated], [ErrNoGuarantee], those of [Check].
func Shrink(ctx context.Context, h *histories.History, guarantee string, progress func(events int), opts ...Option) (*histories.History, error) {
	if err := histories.Validate(h); err != nil {
		return nil, err
	}
	return ShrinkEvents(ctx, SourceOf(h), guarantee, progress, opts...)
}

// ShrinkEvents is [Shrink] for a history that need not be in memory: it reads the history
// several times, and shrinks the events around the violation. It holds the whole history in
// memory only if no excerpt shows the violation.
func ShrinkEvents(ctx context.Context, s Source, guarantee string, progress func(events int), opts ...Option) (*histories.History, error) {
	v, g, r, err := firstViolated(ctx, s, guarantee, opts)
	if err != nil {
		return nil, err
	}
	small, err := newCheck(ctx, opts).shrink(s, g, v.Witnesses[0], r.Events, progress, opts)
	if err != nil {
		return nil, err
	}
	if r, err := Check(ctx, small, opts...); err != nil {
		return nil, err
	} else if v := r.Verdict(g.Name); v == nil || v.Outcome != verdict.Violated {
		return nil, fmt.Errorf("checker: bug of zkverify: what was left of the history does not violate %s", g.Name)
	}
	return small, nil
}

// shrink looks for the smallest part in excerpts, each longer than the one before: the events
// that a violation depends on may be far from it.
func (c *check) shrink(s Source, g Guarantee, w verdict.Witness, events int, progress func(int), opts []Option) (*histories.History, error) {
	c.conventions(&s.Header)
	for around := max(1, c.inMemory/8); ; around *= 8 {
		if around >= events || s.inMemory != nil && !c.excerpts { // an excerpt would gain nothing
			c.inMemory = events
		}
		x, err := c.excerptOf(s, events, w, around)
		if err != nil {
			return nil, err
		}
		h := x.history(s.Header)
		small, err := explain.Shrink(c.ctx, h, explain.Task{
			Guarantee: g.Name, Target: x.places(w), Store: g.store, Decides: g.decides, NotHeld: string(c.notHeld), Progress: progress,
			At: x.At, Events: events, Whole: s.Events,
			Known: func(both bool) ([]verdict.Witness, error) {
				if x.At == nil {
					return violations(c.ctx, g, SourceOf(h), both, append(slices.Clone(opts), inOneWindow))
				}
				return violations(c.ctx, g, s, both, opts)
			},
			Violations: func(h *histories.History, both bool) ([]verdict.Witness, error) {
				return violations(c.ctx, g, SourceOf(h), both, append(slices.Clone(opts), inOneWindow))
			},
		})
		if small != nil || err != nil {
			return small, err
		}
	}
}

// inOneWindow has the whole history judged in one window, for a history in memory.
func inOneWindow(c *check) { c.window = math.MaxInt }

// firstViolated judges a history and returns the verdict on the named guarantee, or on the first
// violated one if none is named, with all verdicts.
func firstViolated(ctx context.Context, s Source, guarantee string, opts []Option) (*verdict.Verdict, Guarantee, *Report, error) {
	none := Guarantee{}
	all, err := newCheck(ctx, opts).guarantees()
	if err != nil {
		return nil, none, nil, err
	}
	if guarantee != "" {
		if _, err := guaranteeNamed(guarantee, all); err != nil {
			return nil, none, nil, err
		}
	}
	guarantee = PresentName(guarantee)
	r, err := CheckEvents(ctx, s.Header, s.Events, opts...)
	if err != nil {
		return nil, none, nil, err
	}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Outcome == verdict.Violated && len(v.Witnesses) > 0 && (guarantee == "" || v.Guarantee == guarantee) {
			g, err := guaranteeNamed(v.Guarantee, all)
			return v, g, r, err
		}
	}
	if guarantee == "" {
		return nil, none, nil, ErrNotViolated
	}
	return nil, none, nil, r.refuse(guarantee, s.Header.Shrunk)
}

// violations returns all violations of a guarantee in a history that the interval engine finds,
// or that both engines find.
func violations(ctx context.Context, g Guarantee, s Source, both bool, opts []Option) ([]verdict.Witness, error) {
	engine := Interval
	if both {
		engine = Both
	}
	c := newCheck(ctx, append(slices.Clone(opts), WithEngine(engine), WithTimeLimit(time.Second)))
	c.conventions(&s.Header)
	c.everyOne = true
	t := c.begun(s.Header)
	j := c.begin(g, t)
	c.judging = []judging{j}
	if err := c.through(t, s.Events); err != nil {
		return nil, err
	}
	v := c.conclude(j, t)
	if v.Outcome != verdict.Violated {
		return nil, nil
	}
	return v.Witnesses, nil
}
