package facts

import (
	"iter"

	"github.com/zkverify/zkverify/histories"
)

// A semaphore is not reentrant: each acquire takes permits of its own, and each release gives
// the permits of one acquire back. So the holds of one owner are kept apart, and depth has no
// meaning.

// permitChain identifies a set of holds of one semaphore in which a release, or a loss, finds
// its hold.
type permitChain struct {
	lock    *LockInfo
	owner   string // or
	process int    // -1: by owner
	// The holds with a token; or, if it is zero, with so many permits.
	token   histories.Token
	permits int
	// untold selects the holds without a token; of any number of permits if permits is 0.
	untold bool
}

// permitChains returns the chains that a hold is in.
func permitChains(h *Hold) [5]permitChain {
	owner, process := permitChain{lock: h.info, owner: h.Owner, process: -1}, permitChain{lock: h.info, process: h.Process}
	of := func(c permitChain, token histories.Token, permits int, untold bool) permitChain {
		c.token, c.permits, c.untold = token, permits, untold
		return c
	}
	none := histories.Token{}
	if h.Token != none {
		return [5]permitChain{of(owner, none, h.Permits, false), of(process, none, h.Permits, false), of(owner, h.Token, 0, false), of(process, h.Token, 0, false)}
	}
	return [5]permitChain{
		of(owner, none, h.Permits, false), of(process, none, h.Permits, false),
		of(owner, none, h.Permits, true), of(process, none, h.Permits, true), of(process, none, 0, true),
	}
}

func (b *holdTracker) apartAdd(h *Hold) {
	h.permitLinks = new([5]link)
	for i, key := range permitChains(h) {
		if key.lock != nil {
			c := b.apart[key]
			c.Add(&h.permitLinks[i], h)
			b.apart[key] = c
		}
	}
}

func (b *holdTracker) apartRemove(h *Hold) {
	for i, key := range permitChains(h) {
		if key.lock == nil {
			continue
		}
		c := b.apart[key]
		if c.Remove(&h.permitLinks[i]); c.First == nil {
			delete(b.apart, key)
		} else {
			b.apart[key] = c
		}
	}
}

func (b *holdTracker) permitsInvoked(o *Op) {
	if o.Acquires() {
		delete(b.lostAt, LockUse{o.Process, o.Lock, o.Mode})
		return
	}
	if h := b.givenBack(o); h != nil {
		if o.Hold = h; o.Kind != histories.Release {
			return
		}
		b.finish(h, o.Call, o.Invoke, ByRelease)
	}
}

func (b *holdTracker) permitsCompleted(o *Op) {
	switch {
	case o.Kind == histories.Release && o.Hold != nil && o.OK():
		o.Hold.Released = o.Ret
	case o.Acquires() && o.OK():
		h := newHold(o)
		b.apartAdd(h)
		b.begin(h, o)
	}
}

// givenBack returns the hold that a release gives back, or nil if that hold is over. The token
// identifies it. Without a token it is the oldest hold of as many permits: the sum of the
// permits is the same for all such holds.
func (b *holdTracker) givenBack(o *Op) *Hold {
	var oldest *Hold
	find := func(c permitChain) {
		if n := b.apart[c].First; n != nil && (oldest == nil || n.Value.Acquire.Done < oldest.Acquire.Done) {
			oldest = n.Value
		}
	}
	for _, mine := range []permitChain{{lock: o.info, owner: o.Owner, process: -1}, {lock: o.info, process: o.Process}} {
		if mine.process >= 0 && !o.unnamed {
			break
		}
		mine.permits = o.Permits
		if o.Token == (histories.Token{}) {
			find(mine)
			continue
		}
		mine.untold = true
		find(mine)
		mine.token, mine.permits, mine.untold = o.Token, 0, false
		find(mine)
	}
	return oldest
}

// meant returns the holds of a process that an event about a lock can mean: see about. It
// visits few other holds if the event names the lease or its owner.
func (b *holdTracker) meant(e *histories.Event, lock string) iter.Seq[*Hold] {
	return func(yield func(*Hold) bool) {
		p, info := b.t.Process(e.Process), b.t.known[lock]
		if info == nil {
			return
		}
		var among [2]iter.Seq[*Hold]
		none := histories.Token{}
		switch {
		case info.Recipe.HasPermits() && e.Token != none:
			c := permitChain{lock: info, process: e.Process, token: e.Token}
			among[0] = b.apart[c].All()
			c.token, c.untold = none, true
			among[1] = b.apart[c].All()
		case !info.Recipe.HasPermits() && e.Owner != "":
			if w := info.owned.of(ownerKey{e.Owner, e.Mode}); w != nil && w.hold != nil && w.hold.By == p && about(e, w.hold) {
				yield(w.hold)
			}
			return
		default:
			among[0] = p.Holds.ofLock(info)
		}
		for _, some := range among {
			if some == nil {
				return
			}
			for h := range some {
				if about(e, h) && !yield(h) {
					return
				}
			}
		}
	}
}
