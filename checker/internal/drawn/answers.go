package drawn

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// ends continues the open operation of a process.
func (w *world) ends(c *client) {
	e := *c.open
	what := w.oneOf(16)
	switch {
	case what == 15:
		w.record(c, histories.Info, e)
		w.rename(c)
		return
	case what == 14:
		w.suffers(c)
		return
	case what == 13 || e.Op == histories.TryAcquire && !w.may(c, &e):
		w.record(c, histories.Fail, e)
		for lock, place := range c.places {
			w.failed[lock] = append(w.failed[lock], place)
		}
		c.open, c.place, c.places, c.number = nil, histories.Token{}, nil, 0
		return
	}
	asks := e.Op == histories.Acquire || e.Op == histories.TryAcquire
	if asks && c.number == 0 && e.Lock != "" && w.numbers(e.Lock) && !w.oddly(3) {
		w.next++
		c.number = int(w.next) // the lock's places are numbers, not tokens
		w.record(c, histories.Enqueued, histories.Event{Lock: e.Lock, Sequence: c.number, Session: c.session()})
		return
	}
	if r := w.h.Header.Locks[e.Lock].Recipe; asks && c.place == (histories.Token{}) && e.Lock != "" && !w.numbers(e.Lock) && (r.Exclusive() || r == histories.ReadWrite) && !w.oddly(3) {
		c.place = w.token()
		w.record(c, histories.Enqueued, histories.Event{Lock: e.Lock, Token: c.place, Session: c.session()})
		return
	}
	if asks && e.Parts != nil && len(c.places) < len(e.Parts) && !w.oddly(4) {
		// It takes its places in any order: others may stand between them.
		for _, i := range []int{0, len(e.Parts) - 1} {
			if i = (i + w.oneOf(2)) % len(e.Parts); c.places[e.Parts[i].Lock] == (histories.Token{}) {
				w.takes(c, e.Parts[i].Lock)
				return
			}
		}
	}
	if !w.may(c, &e) && !w.oddly(6) {
		return // it waits
	}
	switch {
	case asks:
		w.grants(c, &e)
	case e.Op == histories.SetSize:
		w.size[e.Lock] = e.Size
	case e.Op == histories.Set, e.Op == histories.Remove:
		w.up[e.Lock] = e.Op == histories.Set
	}
	w.record(c, histories.OK, e)
	c.open, c.place, c.places, c.number = nil, histories.Token{}, nil, 0
}

// numbers reports whether the places of a lock have numbers of their own.
func (w *world) numbers(lock string) bool {
	r := w.h.Header.Locks[lock].Recipe
	return r.HasPermits() || r == histories.NonReentrant
}

// takes gives c, which asks for several locks, its place in the queue of one.
func (w *world) takes(c *client, lock string) {
	if c.places == nil {
		c.places = map[string]histories.Token{}
	}
	c.places[lock] = w.token()
	w.record(c, histories.Enqueued, histories.Event{Lock: lock, Token: c.places[lock], Session: c.session()})
}

func (w *world) token() histories.Token {
	w.next++
	return histories.Token{Zxid: w.next}
}

// grants completes e, an acquire.
func (w *world) grants(c *client, e *histories.Event) {
	e.Session, e.Depth, e.Token = c.session(), 1, c.place
	if e.Token == (histories.Token{}) && e.Parts == nil && !w.oddly(8) {
		e.Token = w.token()
	}
	e.Parts = slices.Clone(e.Parts)
	for i := range e.Parts {
		lock := e.Parts[i].Lock
		e.Parts[i].Token = c.places[lock]
		if all := w.failed[lock]; len(all) > 0 && w.oddly(4) {
			e.Parts[i].Token = all[w.oneOf(len(all))]
		} else if e.Parts[i].Token == (histories.Token{}) {
			e.Parts[i].Token = w.token()
		}
	}
	r := w.h.Header.RecipeOf(locksOf(e)[0])
	for _, l := range c.leases {
		if !r.HasPermits() && slices.Equal(locksOf(&l.event), locksOf(e)) && l.event.Mode == e.Mode {
			l.depth++
			e.Depth, e.Token = l.depth, l.event.Token
			return
		}
	}
	l := &lease{*e, 1}
	l.event.Depth = 0
	c.leases = append(c.leases, l)
}

// may reports whether the operation of c may succeed now, by the state of the world.
func (w *world) may(c *client, e *histories.Event) bool {
	switch e.Op {
	case histories.Wait:
		return !w.up[e.Lock]
	case histories.Acquire, histories.TryAcquire:
	default:
		return true
	}
	for _, lock := range locksOf(e) {
		r := w.h.Header.Locks[lock].Recipe
		sum := e.Permits
		for _, other := range w.clients {
			if c.place != (histories.Token{}) && other != c && other.open != nil && other.open.Lock == lock &&
				other.place != (histories.Token{}) && other.place.Less(c.place) {
				return false
			}
			if w.now <= other.forced+w.h.Header.Promises.LossBound {
				continue // excused
			}
			for _, l := range other.leases {
				if !slices.Contains(locksOf(&l.event), lock) {
					continue
				}
				sum += l.event.Permits
				apart := other != c && (e.Mode != histories.ModeRead || l.event.Mode != histories.ModeRead)
				if !r.HasPermits() && apart {
					return false
				}
			}
		}
		if r.HasPermits() && sum > w.size[lock] {
			return false
		}
	}
	return true
}

func locksOf(e *histories.Event) []string {
	if e.Parts == nil {
		return []string{e.Lock}
	}
	var locks []string
	for _, p := range e.Parts {
		locks = append(locks, p.Lock)
	}
	return locks
}
