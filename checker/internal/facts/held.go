package facts

import (
	"iter"

	"github.com/zkverify/zkverify/internal/collection"
)

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
	case h.by == by && c.First == nil:
		h.by, h.chain = nil, c
	case h.by == by:
		h.chain = c
	case c.First == nil:
		delete(h.more, by)
	case h.by == nil && h.more[by].First == nil:
		h.by, h.chain = by, c
	default:
		if h.more == nil {
			h.more = make(map[*Held]chain)
		}
		h.more[by] = c
	}
}

// chain is a list of holds. A hold is in several chains. The number of a chain selects the link
// of the hold that belongs to it.
type chain = collection.List[Hold]

type link = collection.Node[Hold]

// The chains of a hold.
const (
	inProcess = iota // all holds of its process
	inLock           // the holds of its process on its lock
)

// All yields all holds of the process. The hold that is yielded may be removed meanwhile.
func (h *Held) All() iter.Seq[*Hold] { return h.all.All() }

// ofLock yields the holds of a lock.
func (h *Held) ofLock(lock *LockInfo) iter.Seq[*Hold] { return lock.held.of(h).All() }

func (h *Held) any() bool { return h.all.First != nil }

func (h *Held) add(hold *Hold) {
	h.all.Add(&hold.links[inProcess], hold)
	c := hold.info.held.of(h)
	c.Add(&hold.links[inLock], hold)
	hold.info.held.put(h, c)
}

func (h *Held) remove(hold *Hold) {
	h.all.Remove(&hold.links[inProcess])
	c := hold.info.held.of(h)
	c.Remove(&hold.links[inLock])
	hold.info.held.put(h, c)
}
