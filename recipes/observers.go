package recipes

import (
	"context"
	"slices"
	"time"
)

// observers returns an observer that calls each of these observers, in this order.
func observers(all ...Observer) Observer {
	return Observer{
		Acquiring:       eachAcquiring(all),
		Enqueued:        each(all, func(o Observer) func(context.Context, Enqueued) { return o.Enqueued }),
		GaveUp:          eachGaveUp(all),
		Acquired:        each(all, func(o Observer) func(*Lease, time.Duration) { return o.Acquired }),
		Suspended:       eachLease(all, func(o Observer) func(*Lease) { return o.Suspended }),
		Resumed:         eachLease(all, func(o Observer) func(*Lease) { return o.Resumed }),
		Lost:            eachLost(all),
		Released:        each(all, func(o Observer) func(*Lease, time.Duration) { return o.Released }),
		RevokeRequested: eachLease(all, func(o Observer) func(*Lease) { return o.RevokeRequested }),
	}
}

// eachAcquiring passes the context from one observer to the next, so that it has the values of
// all.
func eachAcquiring(all []Observer) func(context.Context, Acquiring) context.Context {
	told := slices.DeleteFunc(slices.Clone(all), func(o Observer) bool { return o.Acquiring == nil })
	if len(told) == 0 {
		return nil
	}
	return func(ctx context.Context, a Acquiring) context.Context {
		for _, o := range told {
			ctx = o.Acquiring(ctx, a)
		}
		return ctx
	}
}

func eachGaveUp(all []Observer) func(context.Context, Acquiring, error) {
	told := slices.DeleteFunc(slices.Clone(all), func(o Observer) bool { return o.GaveUp == nil })
	if len(told) == 0 {
		return nil
	}
	return func(ctx context.Context, a Acquiring, err error) {
		for _, o := range told {
			o.GaveUp(ctx, a, err)
		}
	}
}

func eachLost(all []Observer) func(*Lease, LossReason, time.Duration) {
	told := slices.DeleteFunc(slices.Clone(all), func(o Observer) bool { return o.Lost == nil })
	if len(told) == 0 {
		return nil
	}
	return func(l *Lease, why LossReason, held time.Duration) {
		for _, o := range told {
			o.Lost(l, why, held)
		}
	}
}

// each joins one field of the observers. It returns nil if no observer has set the field.
func each[A, B any](all []Observer, field func(Observer) func(A, B)) func(A, B) {
	var told []func(A, B)
	for _, o := range all {
		if f := field(o); f != nil {
			told = append(told, f)
		}
	}
	if len(told) == 0 {
		return nil
	}
	return func(a A, b B) {
		for _, f := range told {
			f(a, b)
		}
	}
}

// eachLease is each for a field whose only argument is a lease.
func eachLease(all []Observer, field func(Observer) func(*Lease)) func(*Lease) {
	joined := each(all, func(o Observer) func(*Lease, struct{}) {
		f := field(o)
		if f == nil {
			return nil
		}
		return func(l *Lease, _ struct{}) { f(l) }
	})
	if joined == nil {
		return nil
	}
	return func(l *Lease) { joined(l, struct{}{}) }
}
