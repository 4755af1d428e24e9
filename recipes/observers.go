package recipes

import (
	"context"
	"time"
)

// Observers returns an observer that tells each of these, in this order.
func Observers(all ...Observer) Observer {
	var enqueued []func(context.Context, Enqueued)
	for _, o := range all {
		if o.Enqueued != nil {
			enqueued = append(enqueued, o.Enqueued)
		}
	}
	o := Observer{
		Acquired:        eachTimed(all, func(o Observer) func(*Lease, time.Duration) { return o.Acquired }),
		Suspended:       each(all, func(o Observer) func(*Lease) { return o.Suspended }),
		Resumed:         each(all, func(o Observer) func(*Lease) { return o.Resumed }),
		Lost:            eachTimed(all, func(o Observer) func(*Lease, time.Duration) { return o.Lost }),
		Released:        eachTimed(all, func(o Observer) func(*Lease, time.Duration) { return o.Released }),
		RevokeRequested: each(all, func(o Observer) func(*Lease) { return o.RevokeRequested }),
	}
	if len(enqueued) > 0 {
		o.Enqueued = func(ctx context.Context, e Enqueued) {
			for _, f := range enqueued {
				f(ctx, e)
			}
		}
	}
	return o
}

// each joins one field of the observers; nil if no observer has set it.
func each(all []Observer, field func(Observer) func(*Lease)) func(*Lease) {
	timed := eachTimed(all, func(o Observer) func(*Lease, time.Duration) {
		f := field(o)
		if f == nil {
			return nil
		}
		return func(l *Lease, _ time.Duration) { f(l) }
	})
	if timed == nil {
		return nil
	}
	return func(l *Lease) { timed(l, 0) }
}

func eachTimed(all []Observer, field func(Observer) func(*Lease, time.Duration)) func(*Lease, time.Duration) {
	var set []func(*Lease, time.Duration)
	for _, o := range all {
		if f := field(o); f != nil {
			set = append(set, f)
		}
	}
	if len(set) == 0 {
		return nil
	}
	return func(l *Lease, d time.Duration) {
		for _, f := range set {
			f(l, d)
		}
	}
}
