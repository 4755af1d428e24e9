package checker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/shrink"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
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
// header says which values they wrote. What the servers did ([WithService]) stays as it is,
// and is needed to judge the small history on [FirstNode]. Zeller and Hildebrandt, "Simplifying and
// isolating failure-inducing input", 2002.
//
// progress, if not nil, is told how many events are left. Errors:
// [ErrNotViolated], [ErrNoGuarantee], those of [Check].
func Shrink(ctx context.Context, h *histories.History, guarantee string, progress func(events int), opts ...Option) (*histories.History, error) {
	v, g, err := firstViolated(ctx, h, guarantee, opts)
	if err != nil {
		return nil, err
	}
	c := newCheck(ctx, opts)
	c.conventions(&h.Header)
	small := shrink.Shrink(ctx, h, shrink.Task{
		Guarantee: g.Name, Target: v.Witnesses[0], Store: g.store, Decides: g.decides, NotHeld: string(c.notHeld), Progress: progress,
		Violations: func(h *histories.History, both bool) []verdict.Witness { return violations(ctx, g, h, both, opts) },
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if r, err := Check(ctx, small, opts...); err != nil {
		return nil, err
	} else if v := r.Verdict(g.Name); v == nil || v.Outcome != verdict.Violated {
		return nil, fmt.Errorf("checker: bug of zkverify: what was left of the history does not violate %s", g.Name)
	}
	return small, nil
}

// firstViolated judges h and returns the verdict on the named guarantee, or on
// the first that is violated, and that guarantee.
func firstViolated(ctx context.Context, h *histories.History, guarantee string, opts []Option) (*verdict.Verdict, Guarantee, error) {
	none := Guarantee{}
	all, err := newCheck(ctx, opts).guarantees()
	if err != nil {
		return nil, none, err
	}
	if guarantee != "" {
		if _, err := guaranteeNamed(guarantee, all); err != nil {
			return nil, none, err
		}
	}
	r, err := Check(ctx, h, opts...)
	if err != nil {
		return nil, none, err
	}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Outcome == verdict.Violated && len(v.Witnesses) > 0 && (guarantee == "" || v.Guarantee == guarantee) {
			g, err := guaranteeNamed(v.Guarantee, all)
			return v, g, err
		}
	}
	if guarantee == "" {
		return nil, none, ErrNotViolated
	}
	return nil, none, r.refuse(guarantee, h.Header.Shrunk)
}

// violations returns all violations of a guarantee in a part of a history, as the
// interval engine sees them, or both.
func violations(ctx context.Context, g Guarantee, h *histories.History, both bool, opts []Option) []verdict.Witness {
	engine := Interval
	if both {
		engine = Both
	}
	c := newCheck(ctx, append(slices.Clone(opts), WithEngine(engine), WithTimeLimit(time.Second)))
	c.conventions(&h.Header)
	c.everyOne = true
	t := c.begun(h.Header)
	j := c.begin(g, t)
	t.Read(h)
	j.judge.Window(&c.engines, t)
	v := c.conclude(j, t)
	if v.Outcome != verdict.Violated {
		return nil
	}
	return v.Witnesses
}
