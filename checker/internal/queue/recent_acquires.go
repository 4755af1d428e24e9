package queue

import (
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
)

// recentAcquires are the acquires, and passages of barriers, that the judge of progress may
// need.
type recentAcquires struct {
	t    *facts.Trace
	all  []recentOp
	kept int // the length of all after the last removal
}

// keep keeps the acquires of the window that triesInVain and progress may need: all since the
// recovery began, and of the earlier ones those that may be in the way of another process then.
func (r *recentAcquires) keep() {
	for _, o := range r.t.Ops {
		if (o.Acquires() || o.Passes()) && r.t.Settled(o) {
			r.all = append(r.all, recentOp{o, leftAt(o)})
		}
	}
	if r.t.Last || len(r.all) < 2*r.kept+1000 {
		return
	}
	start, recovering := r.t.Phases[histories.PhaseRecovery]
	if !recovering {
		start = r.t.End
	}
	before := start - 2*r.t.Lifetime()
	keep := r.all[:0]
	for _, o := range r.all {
		if o.left == facts.Forever {
			o.left = leftAt(o.Op) // it may be over by now
		}
		if o.left >= before {
			keep = append(keep, o)
		}
	}
	clear(r.all[len(keep):])
	r.all, r.kept = keep, len(keep)
}

// recentOp is an acquire, with the time until which it may have been in the way of another
// process: forever while that is not known.
type recentOp struct {
	*facts.Op
	left time.Duration
}

// leftAt returns the time until which an acquire may have been in the way.
func leftAt(o *facts.Op) time.Duration {
	switch {
	case o.Hold != nil:
		return max(o.Hold.End, o.Hold.Released)
	case o.Gone:
		return o.By.Retired
	}
	return o.Ret
}
