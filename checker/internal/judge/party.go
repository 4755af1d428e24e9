package judge

import (
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// OpParty returns the party whose part is an operation.
func OpParty(o *facts.Op) verdict.Party {
	e := o.Done
	if e < 0 {
		e = o.Invoke
	}
	return verdict.Party{
		Process: o.Process, Name: o.By.Name, Owner: o.Owner, Session: o.Session, Token: o.Token,
		From: o.Call, To: o.Ret, Open: o.Ret == facts.Forever, Event: e, Line: histories.Line(e), Invoke: o.Invoke,
	}
}

// HoldParty returns the party whose part is a hold.
func HoldParty(h *facts.Hold) verdict.Party {
	return verdict.Party{
		Process: h.Process, Name: h.Acquire.By.Name, Owner: h.Owner, Session: h.Session, Token: h.Token, From: h.Start, To: h.End,
		Open: h.End == facts.Forever, Event: h.Acquire.Done, Line: histories.Line(h.Acquire.Done), Invoke: h.Acquire.Invoke,
	}
}

// NoticeParty returns the party whose part is the notice to release that it received.
func NoticeParty(e facts.ReleaseNotice) verdict.Party {
	return verdict.Party{
		Process: e.Process, Name: e.Name, Owner: e.Owner, Session: e.Session, Token: e.Token, From: e.Time, To: e.Time,
		Event: e.N, Line: histories.Line(e.N), Invoke: e.N,
	}
}
