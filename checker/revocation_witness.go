package checker

import (
	"fmt"
	"time"
)

func (t *trace) notTold(o *op, h *hold, by, late time.Duration, wasLate bool) Witness {
	p, q := h.party(), o.party()
	w := t.newWitness(h.lock, o.call, h.end, p, q)
	w.What = fmt.Sprintf("%v asked for the release of lock %q at %s and was answered at %s; %v held it with token %s and had to be told by %s", q, w.Lock, at(o.call), at(o.ret), p, token(h.token), at(by))
	if wasLate {
		w.What += ", but was told only at " + at(late)
		return w
	}
	w.What += ", but was not"
	return w
}

// toldAnother tells of a process that was told of lease h, or of one that process
// before had had, or of none.
func (t *trace) toldAnother(e releaseNotice, h *hold, before int, over bool) Witness {
	p := e.party()
	parties := []Party{p}
	whose := "which nobody has"
	switch {
	case h != nil:
		parties = append(parties, h.party())
		whose = fmt.Sprintf("which is that of %v", parties[1])
	case over:
		whose = fmt.Sprintf("which had been that of process %d", before)
	}
	w := t.newWitness(e.Lock, e.Time, e.Time, parties...)
	w.What = fmt.Sprintf("%v was told at %s to release lock %q with token %s, %s", p, at(e.Time), e.Lock, token(e.Token), whose)
	return w
}

func (t *trace) toldUnasked(e releaseNotice) Witness {
	p := e.party()
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
