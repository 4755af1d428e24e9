package client

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
)

func notTold(t *facts.Trace, o *facts.Op, h *facts.Hold, by, late time.Duration, wasLate bool) verdict.Witness {
	p, q := judge.HoldParty(h), judge.OpParty(o)
	w := judge.NewWitness(t, h.Lock, o.Call, h.End, p, q)
	w.What = fmt.Sprintf("%v asked for the release of lock %q at %s and was answered at %s; %v held it with token %s and had to be told by %s", q, w.Lock, verdict.At(o.Call), verdict.At(o.Ret), p, verdict.Token(h.Token), verdict.At(by))
	if wasLate {
		w.What += ", but was told only at " + verdict.At(late)
		return w
	}
	w.What += ", but was not"
	return w
}

// toldAnother returns the witness of a process that was told of lease h of another process, of
// a lease that process before had had, or of no lease.
func toldAnother(t *facts.Trace, e facts.ReleaseNotice, h *facts.Hold, before int, over bool) verdict.Witness {
	p := judge.NoticeParty(e)
	parties := []verdict.Party{p}
	whose := "which does not exist"
	switch {
	case h != nil:
		parties = append(parties, judge.HoldParty(h))
		whose = fmt.Sprintf("which is that of %v", parties[1])
	case over:
		whose = "which had been that of " + t.Header.Name(before)
	}
	w := judge.NewWitness(t, e.Lock, e.Time, e.Time, parties...)
	w.What = fmt.Sprintf("%v was told at %s to release lock %q with token %s, %s", p, verdict.At(e.Time), e.Lock, verdict.Token(e.Token), whose)
	return w
}

func toldUnasked(t *facts.Trace, e facts.ReleaseNotice) verdict.Witness {
	p := judge.NoticeParty(e)
	w := judge.NewWitness(t, e.Lock, e.Time, e.Time, p)
	w.What = fmt.Sprintf("%v was told at %s to release lock %q with token %s, and no process had asked for that", p, verdict.At(e.Time), e.Lock, verdict.Token(e.Token))
	return w
}

func forcedOut(t *facts.Trace, h *facts.Hold) verdict.Witness {
	p := judge.HoldParty(h)
	w := judge.NewWitness(t, h.Lock, h.Start, h.End, p)
	w.What = fmt.Sprintf("%v held lock %q with token %s and was asked to release it; it lost it at %s, although its session lived on and no fault was about", p, h.Lock, verdict.Token(h.Token), verdict.At(h.End))
	return w
}
