package checker

import "github.com/zkverify/zkverify/histories"

// A semaphore is not reentrant: each acquire takes permits of its own, and each
// release gives the permits of one acquire back. So the holds of one owner are
// kept apart, and depth means nothing.

func (b *holdTracker) permitsInvoked(o *op) {
	if o.acquires() {
		delete(b.lostAt, lockUse{o.process, o.lock, o.mode})
		return
	}
	if h := b.givenBack(o); h != nil {
		o.hold = h
		b.finish(h, o.call, o.invoke, byRelease)
	}
}

func (b *holdTracker) permitsCompleted(o *op) {
	switch {
	case o.kind == histories.Release && o.hold != nil && o.ok():
		o.hold.released = o.ret
	case o.acquires() && o.ok():
		h := newHold(o)
		b.apart[h.lock] = append(b.apart[h.lock], h)
		b.begin(h, o)
	}
}

// givenBack returns the hold that a release is of, or nil if that is over. A
// token tells; without one it is the oldest hold of as many permits, for which
// of several equal ones ends makes no difference to their sum.
func (b *holdTracker) givenBack(o *op) *hold {
	none := histories.Token{}
	for _, h := range b.apart[o.lock] {
		mine := h.owner == o.owner || o.unnamed && h.process == o.process
		switch {
		case !mine:
		case o.token != none && h.token != none:
			if o.token == h.token {
				return h
			}
		case o.permits == h.permits:
			return h
		}
	}
	return nil
}
