package client

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
)

// needless judges a hold whose holder was told of a loss, if the target promises Returns: its node
// stood, its session went on, and no fault had hit its client or a server for two session timeouts. It
// judges in virtual time alone, where nothing else delays an answer.
func (j *lossJudge) needless(t *facts.Trace, h *facts.Hold) {
	if h.Why != facts.ByLoss || h.Session == "" || t.Service == nil || !t.Service.Exact() || !t.Header.Promises.Returns {
		return
	}
	end := t.Service.SessionEnd(h.Session)
	switch {
	case !t.CalmFor(h.Process, h.End, h.End),
		end != nil && end.Closed.Time <= h.End,
		t.Faults.WasForced(h.Session, h.Process, h.Call, h.End),
		t.Service.GoneBefore(h, h.End) != nil:
		return
	}
	j.lostForNothing++
	j.v.Violate(func() verdict.Witness {
		p := judge.HoldParty(h)
		w := judge.NewWitness(t, h.Lock, h.Start, h.End, p)
		w.What = fmt.Sprintf("%v was told at %s that it had lost lock %q, although its node stood, its session went on, and no fault had hit it or a server for two session timeouts", p, verdict.At(h.End), h.Lock)
		return w
	})
}
