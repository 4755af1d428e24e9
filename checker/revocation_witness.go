package checker

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/histories"
)

func (t *trace) notTold(r *requests, o *op, h *hold, by time.Duration) Witness {
	p, q := h.party(), o.party()
	w := t.newWitness(h.lock, o.call, h.end, p, q)
	w.What = fmt.Sprintf("%v asked for the release of lock %q at %s and was answered at %s; %v held it with token %s and had to be told by %s", q, w.Lock, at(o.call), at(o.ret), p, token(h.token), at(by))
	if when, late := r.toldIn(h, by, forever); late {
		w.What += ", but was told only at " + at(when)
		return w
	}
	w.What += ", but was not"
	return w
}

// toldParty is who was told by event i.
func (t *trace) toldParty(i int) Party {
	e := &t.events[i]
	return Party{
		Process: e.Process, Owner: e.Owner, Session: e.Session, Token: e.Token, From: e.Time, To: e.Time,
		Event: i, Line: histories.Line(i), Invoke: i,
	}
}

func (t *trace) toldAnother(r *requests, i int) Witness {
	p := t.toldParty(i)
	e := &t.events[i]
	parties := []Party{p}
	whose := "which nobody has"
	if h := r.leases[leaseKey{e.Lock, e.Token}]; len(h) > 0 {
		parties = append(parties, h[0].party())
		whose = fmt.Sprintf("which is that of %v", parties[1])
	}
	w := t.newWitness(e.Lock, e.Time, e.Time, parties...)
	w.What = fmt.Sprintf("%v was told at %s to release lock %q with token %s, %s", p, at(e.Time), e.Lock, token(e.Token), whose)
	return w
}

func (t *trace) toldUnasked(i int) Witness {
	p := t.toldParty(i)
	e := &t.events[i]
	w := t.newWitness(e.Lock, e.Time, e.Time, p)
	w.What = fmt.Sprintf("%v was told at %s to release lock %q with token %s, and nobody had asked for that", p, at(e.Time), e.Lock, token(e.Token))
	return w
}

func (t *trace) forcedOut(h *hold) Witness {
	p := h.party()
	w := t.newWitness(h.lock, h.start, h.end, p)
	w.What = fmt.Sprintf("%v held lock %q with token %s and was asked to release it; it lost it at %s, although its session lived on and no fault was about", p, h.lock, token(h.token), at(h.end))
	return w
}
