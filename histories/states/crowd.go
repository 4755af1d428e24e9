package states

import (
	"github.com/zkverify/zkverify/histories"
)

// crowd indexes the holds of a lock that has many holds.
type crowd map[holder]list

// holder is a key of a crowd: a process, an owner, a process that has named no owner, or a token
// (the zero token for holds without one).
type holder struct {
	process int
	owner   string
	unnamed bool
	token   histories.Token
}

// byToken returns the key of the holds with a token.
func byToken(token histories.Token) holder { return holder{process: -1, unnamed: true, token: token} }

// fewHolds is the number of holds of a lock up to which they are searched one by one, without a
// crowd.
const fewHolds = 8

// holders returns the keys of the lists of h: of its process, of its owner, and of its token.
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
		l.Add(&h.crowd[i], h)
		c[k] = l
	}
}

func (c crowd) remove(h *Hold) {
	for i, k := range holders(h) {
		l := c[k]
		if l.Remove(&h.crowd[i]); l.First == nil {
			delete(c, k)
		} else {
			c[k] = l
		}
	}
	h.crowd = nil
}

// crowdOf returns the crowd of a lock, nil if it has none. Most locks have none.
func (t *Tracker) crowdOf(lock string) crowd {
	if len(t.crowds) == 0 {
		return nil
	}
	return t.crowds[lock]
}

// oldest returns the oldest hold of a lock for which is returns true, of those that an event with
// this token may be about.
func (t *Tracker) oldest(lock string, e *histories.Event, token histories.Token, is func(*Hold) bool) *Hold {
	a, b := t.with(lock, e, token)
	h, i := first(a, is), first(b, is)
	if h == nil || i != nil && i.number < h.number {
		return i
	}
	return h
}

// first returns the first hold of a list for which is returns true.
func first(l list, is func(*Hold) bool) *Hold {
	for n := l.First; n != nil; n = n.After {
		if is(n.Value) {
			return n.Value
		}
	}
	return nil
}

// locked adds a hold to the holds of its lock.
func (t *Tracker) locked(h *Hold) {
	held := t.held[h.Lock]
	held.Add(&h.links[ofLock], h)
	t.held[h.Lock] = held
	if c := t.crowdOf(h.Lock); c != nil {
		c.add(h)
		return
	}
	n := 0
	for x := held.First; x != nil && n <= fewHolds; x = x.After {
		n++
	}
	if n <= fewHolds {
		return
	}
	c := crowd{}
	for h := range held.All() {
		c.add(h)
	}
	t.crowds[h.Lock] = c
}

// unlock removes a hold from the holds of its lock.
func (t *Tracker) unlock(h *Hold) {
	held := t.held[h.Lock]
	if c := t.crowdOf(h.Lock); c != nil {
		c.remove(h)
	}
	if held.Remove(&h.links[ofLock]); held.First == nil {
		delete(t.held, h.Lock)
		if len(t.crowds) > 0 {
			delete(t.crowds, h.Lock)
		}
	} else {
		t.held[h.Lock] = held
	}
}

// by returns the holds of a lock that a process has, the oldest first. If the lock has few, it
// returns those of all processes.
func (t *Tracker) by(process int, lock string) list {
	if c := t.crowdOf(lock); c != nil {
		return c[holder{process: process}]
	}
	return t.held[lock]
}

// mine returns the holds of a lock whose owner may be the owner in an event, in two lists, each the
// oldest first.
func (t *Tracker) mine(lock string, e *histories.Event) (a, b list) {
	c := t.crowdOf(lock)
	if c == nil || e.Owner == "" {
		return t.by(e.Process, lock), list{}
	}
	return c[holder{owner: e.Owner, process: -1}], c[holder{process: e.Process, unnamed: true}]
}

// with returns the holds of a lock that an event with this token, which may be zero, may be about,
// in two lists, each the oldest first.
func (t *Tracker) with(lock string, e *histories.Event, token histories.Token) (a, b list) {
	none := histories.Token{}
	if c := t.crowdOf(lock); c != nil && token != none {
		return c[byToken(token)], c[byToken(none)]
	}
	return t.mine(lock, e)
}
