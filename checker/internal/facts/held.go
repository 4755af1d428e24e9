package facts

import "iter"

// Held are the holds that a process has, in the order in which they began. One of a million is
// found and removed as fast as one of two.
type Held struct{ all chain }

// held are the holds of one lock, by those who have them: one at a time of most locks, which
// needs no map.
type held struct {
	by    *Held // who has one; its holds are in chain, and those of others in more
	chain chain
	more  map[*Held]chain
}

func (h *held) of(by *Held) chain {
	if h.by == by {
		return h.chain
	}
	return h.more[by]
}

func (h *held) put(by *Held, c chain) {
	switch {
	case h.by == by && c.first == nil:
		h.by, h.chain = nil, c
	case h.by == by:
		h.chain = c
	case c.first == nil:
		delete(h.more, by)
	case h.by == nil && h.more[by].first == nil:
		h.by, h.chain = by, c
	default:
		if h.more == nil {
			h.more = make(map[*Held]chain)
		}
		h.more[by] = c
	}
}

// chain has holds in order. A hold is in several: each has a number, which says by which of its
// links.
type chain struct{ first, last *Hold }

// link is where a hold is in a chain.
type link struct{ before, after *Hold }

// The chains of a hold.
const (
	inProcess = iota // all of its process
	inLock           // those of them of its lock
	inPermits        // and so on: see permitChains
)

func (h *Hold) link(n int) *link {
	if n < inPermits {
		return &h.links[n]
	}
	return &h.permitLinks[n-inPermits]
}

func (c *chain) add(h *Hold, n int) {
	*h.link(n) = link{before: c.last}
	if c.last == nil {
		c.first = h
	} else {
		c.last.link(n).after = h
	}
	c.last = h
}

func (c *chain) remove(h *Hold, n int) {
	at := *h.link(n)
	if at.before == nil {
		c.first = at.after
	} else {
		at.before.link(n).after = at.after
	}
	if at.after == nil {
		c.last = at.before
	} else {
		at.after.link(n).before = at.before
	}
}

// each goes through them. The one that is shown may be removed meanwhile.
func (c chain) each(n int) iter.Seq[*Hold] {
	return func(yield func(*Hold) bool) {
		for h := c.first; h != nil; {
			after := h.link(n).after
			if !yield(h) {
				return
			}
			h = after
		}
	}
}

// All are all of them. The one that is shown may be removed meanwhile.
func (h *Held) All() iter.Seq[*Hold] { return h.all.each(inProcess) }

// ofLock are those of a lock.
func (h *Held) ofLock(lock *LockInfo) iter.Seq[*Hold] { return lock.held.of(h).each(inLock) }

func (h *Held) any() bool { return h.all.first != nil }

func (h *Held) add(hold *Hold) {
	h.all.add(hold, inProcess)
	c := hold.info.held.of(h)
	c.add(hold, inLock)
	hold.info.held.put(h, c)
}

func (h *Held) remove(hold *Hold) {
	h.all.remove(hold, inProcess)
	c := hold.info.held.of(h)
	c.remove(hold, inLock)
	hold.info.held.put(h, c)
}
