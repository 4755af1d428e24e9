package states

import (
	"iter"

	"github.com/zkverify/zkverify/histories"
)

// crowd are the holds of a lock that has many, by those who have them.
type crowd map[holder]list

// holder is a process, or an owner, or a process that has named no owner; or the holders by a token,
// or by none.
type holder struct {
	process int
	owner   string
	unnamed bool
	token   histories.Token
}

// byToken are those who hold by a token.
func byToken(token histories.Token) holder { return holder{process: -1, unnamed: true, token: token} }

// fewHolds of a lock are gone through one by one.
const fewHolds = 8

// holders are the lists that a hold is in: of its process, of its owner, and of its token.
func holders(h *Hold) [3]holder {
	if h.Owner == "" {
		return [3]holder{{process: h.Process}, {process: h.Process, unnamed: true}, byToken(h.Token)}
	}
	return [3]holder{{process: h.Process}, {owner: h.Owner, process: -1}, byToken(h.Token)}
}

func (c crowd) add(h *Hold) {
	h.crowd = new([3]link)
	for i, k := range holders(h) {
		l := c[k]
		l.add(h, inCrowd+i)
		c[k] = l
	}
}

func (c crowd) remove(h *Hold) {
	for i, k := range holders(h) {
		l := c[k]
		if l.remove(h, inCrowd+i); l.first == nil {
			delete(c, k)
		} else {
			c[k] = l
		}
	}
	h.crowd = nil
}

// crowdOf is that of a lock, nil if it has none: as of most.
func (t *Tracker) crowdOf(lock string) crowd {
	if len(t.crowds) == 0 {
		return nil
	}
	return t.crowds[lock]
}

// oldest is the oldest hold of a lock, of those that an event with a token may be about, that is one
// of some.
func (t *Tracker) oldest(lock string, e *histories.Event, token histories.Token, is func(*Hold) bool) *Hold {
	if t.crowdOf(lock) == nil {
		for h := t.held[lock].first; h != nil; h = h.links[ofLock].after {
			if is(h) {
				return h
			}
		}
		return nil
	}
	for h := range t.with(lock, e, token) {
		if is(h) {
			return h
		}
	}
	return nil
}

// locked puts a hold among those of its lock.
func (t *Tracker) locked(h *Hold) {
	held := t.held[h.Lock]
	held.add(h, ofLock)
	t.held[h.Lock] = held
	if c := t.crowdOf(h.Lock); c != nil {
		c.add(h)
		return
	}
	n := 0
	for x := held.first; x != nil && n <= fewHolds; x = x.links[ofLock].after {
		n++
	}
	if n <= fewHolds {
		return
	}
	c := crowd{}
	for h := range held.each(ofLock) {
		c.add(h)
	}
	t.crowds[h.Lock] = c
}

// unlock drops a hold from those of its lock.
func (t *Tracker) unlock(h *Hold) {
	held := t.held[h.Lock]
	if c := t.crowdOf(h.Lock); c != nil {
		c.remove(h)
	}
	if held.remove(h, ofLock); held.first == nil {
		delete(t.held, h.Lock)
		if len(t.crowds) > 0 {
			delete(t.crowds, h.Lock)
		}
	} else {
		t.held[h.Lock] = held
	}
}

// by are the holds of a lock that a process has, the oldest first; and, if there are few, those of
// others.
func (t *Tracker) by(process int, lock string) iter.Seq[*Hold] {
	if c := t.crowdOf(lock); c != nil {
		return c[holder{process: process}].each(inCrowd)
	}
	return t.held[lock].each(ofLock)
}

// mine are the holds of a lock that an event may be of the owner of, the oldest first.
func (t *Tracker) mine(lock string, e *histories.Event) iter.Seq[*Hold] {
	c := t.crowdOf(lock)
	if c == nil || e.Owner == "" {
		return t.by(e.Process, lock)
	}
	return both(c[holder{owner: e.Owner, process: -1}], c[holder{process: e.Process, unnamed: true}], inCrowd+1)
}

// with are the holds of a lock that an event, which names a token or none, may be about, the oldest
// first.
func (t *Tracker) with(lock string, e *histories.Event, token histories.Token) iter.Seq[*Hold] {
	none := histories.Token{}
	if c := t.crowdOf(lock); c != nil && token != none {
		return both(c[byToken(token)], c[byToken(none)], inCrowd+2)
	}
	return t.mine(lock, e)
}

// both are the holds of two lists, the oldest first.
func both(a, b list, which int) iter.Seq[*Hold] {
	return func(yield func(*Hold) bool) {
		for a.first != nil || b.first != nil {
			l := &a
			if a.first == nil || b.first != nil && b.first.number < a.first.number {
				l = &b
			}
			h := l.first
			l.first = h.link(which).after
			if !yield(h) {
				return
			}
		}
	}
}
