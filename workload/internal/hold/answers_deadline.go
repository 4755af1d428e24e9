package hold

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/lock"
)

// beforeDeadline is the time before a deadline at which a holder begins to look closely.
const beforeDeadline = 2 * time.Millisecond

// betweenLooks is the longest time between two looks.
const betweenLooks = 50 * time.Microsecond

// waitOut waits while the hold goes on: for d, until ctx ends or the lease is lost. If a
// deadline comes meanwhile, waitOut calls meetDeadline: a lease that waits to be notified of
// its loss is valid for an instant too long, and for longer if its holder pauses then.
func (h answers) waitOut(ctx context.Context, d time.Duration, lease lock.Lease) {
	l, ok := lease.(lock.DeadlineLease)
	if part, isPart := lease.(partLease); isPart {
		l, ok = part.Lease.(lock.DeadlineLease)
	}
	if !ok || !h.Client.Run.Promises.Says {
		wait.ForOr(ctx, d, h.Lease.Lost())
		return
	}
	end := time.Now().Add(d)
	if left := time.Until(l.Deadline()) - beforeDeadline; left < d {
		wait.ForOr(ctx, left, h.Lease.Lost())
		h.meetDeadline(ctx, l)
	}
	wait.ForOr(ctx, time.Until(end), h.Lease.Lost())
}

// meetDeadline asks the lease again and again until it is no longer valid, or its deadline has
// moved on. If it is valid after its own deadline that is recorded, even if the hold has ended
// since.
func (h answers) meetDeadline(ctx context.Context, lease lock.DeadlineLease) {
	for until := time.Now().Add(10 * beforeDeadline); ctx.Err() == nil; {
		s := saying(h.Client)
		asked := time.Now()
		valid := lease.Valid()
		left := lease.Deadline().Sub(asked)
		if valid && left <= 0 {
			s.Valid, s.Left = &valid, &left
			h.record(h.Event, 0, s, true)
			return
		}
		if !valid || left > 2*beforeDeadline || asked.After(until) {
			return
		}
		wait.For(ctx, min(max(left, time.Microsecond), betweenLooks))
	}
}
