package facts

import "iter"

// Held is the set of holds that a process has, in the order in which they began. A hold is
// found and removed in the same time in a set of a million as in a set of two.
type Held struct{ all chain }

// held is the set of holds of one lock, by holder. Most locks have one holder at a time, which
// needs no map.
type held struct {
	by    *Held // one holder; its holds are in chain, and those of others in more
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

// chain is a doubly linked list of holds. A hold is in several chains. The number of a chain
// selects the link of the hold that belongs to it.
type chain struct{ first, last *Hold }

// link is the position of a hold in a chain.
type link struct{ before, after *Hold }

// The chains of a hold.
const (
	inProcess = iota // all holds of its process
	inLock           // the holds of its process on its lock
	inPermits        // and the following: see permitChains
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

// each yields the holds of the chain. The hold that is yielded may be removed meanwhile.
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

// All yields all holds of the process. The hold that is yielded may be removed meanwhile.
func (h *Held) All() iter.Seq[*Hold] { return h.all.each(inProcess) }

// ofLock yields the holds of a lock.
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
