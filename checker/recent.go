package checker

import (
	"time"

	"github.com/zkverify/zkverify/histories"
)

// recentAcquires are the acquires, and passages of barriers, that progress may ask
// for.
type recentAcquires struct {
	t    *trace
	all  []recentOp
	kept int // how many of them there were when they were last gone through
}

// keep keeps the acquires of the window on record that othersAbout, and
// progress, may ask for: all since the recovery began, and before it those that
// may be in the way of somebody then.
func (r *recentAcquires) keep() {
	for _, o := range r.t.ops {
		if (o.acquires() || o.passes()) && r.t.settled(o) {
			r.all = append(r.all, recentOp{o, leftAt(o)})
		}
	}
	if r.t.last || len(r.all) < 2*r.kept+1000 {
		return
	}
	start, recovering := r.t.phases[histories.PhaseRecovery]
	if !recovering {
		start = r.t.end
	}
	before := start - 2*r.t.lifetime()
	keep := r.all[:0]
	for _, o := range r.all {
		if o.left == forever {
			o.left = leftAt(o.op) // it may be over by now
		}
		if o.left >= before {
			keep = append(keep, o)
		}
	}
	clear(r.all[len(keep):])
	r.all, r.kept = keep, len(keep)
}

// recentOp is an acquire, and until when it may have been in somebody's way:
// forever while that is not known.
type recentOp struct {
	*op
	left time.Duration
}

// leftAt returns until when an acquire may have been in the way.
func leftAt(o *op) time.Duration {
	switch {
	case o.hold != nil:
		return max(o.hold.end, o.hold.released)
	case o.gone:
		return o.by.retired
	}
	return o.ret
}
