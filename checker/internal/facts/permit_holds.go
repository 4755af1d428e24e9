package facts

import "github.com/zkverify/zkverify/histories"

// A semaphore is not reentrant: each acquire takes permits of its own, and each
// release gives the permits of one acquire back. So the holds of one owner are
// kept apart, and depth means nothing.

func (b *holdTracker) permitsInvoked(o *Op) {
	if o.Acquires() {
		delete(b.lostAt, LockUse{o.Process, o.Lock, o.Mode})
		return
	}
	if h := b.givenBack(o); h != nil {
		o.Hold = h
		b.finish(h, o.Call, o.Invoke, ByRelease)
	}
}

func (b *holdTracker) permitsCompleted(o *Op) {
	switch {
	case o.Kind == histories.Release && o.Hold != nil && o.OK():
		o.Hold.Released = o.Ret
	case o.Acquires() && o.OK():
		h := newHold(o)
		if b.apart[h.Lock] == nil {
			b.apart[h.Lock] = new(holds)
		}
		b.apart[h.Lock].add(h)
		b.begin(h, o)
	}
}

// givenBack returns the hold that a release is of, or nil if that is over. A
// token tells; without one it is the oldest hold of as many permits, for which
// of several equal ones ends makes no difference to their sum.
func (b *holdTracker) givenBack(o *Op) *Hold {
	none := histories.Token{}
	open := b.apart[o.Lock]
	if open == nil {
		return nil
	}
	for h := range open.each() {
		mine := h.Owner == o.Owner || o.unnamed && h.Process == o.Process
		switch {
		case !mine:
		case o.Token != none && h.Token != none:
			if o.Token == h.Token {
				return h
			}
		case o.Permits == h.Permits:
			return h
		}
	}
	return nil
}
