package checker

import "github.com/zkverify/zkverify/histories"

// party returns the party whose part is an operation.
func (o *op) party() Party {
	e := o.done
	if e < 0 {
		e = o.invoke
	}
	return Party{
		Process: o.process, Owner: o.owner, Session: o.session, Token: o.token,
		From: o.call, To: o.ret, Open: o.ret == forever, Event: e, Line: histories.Line(e), Invoke: o.invoke,
	}
}

// party returns the party whose part is a hold.
func (h *hold) party() Party {
	return Party{
		Process: h.process, Owner: h.owner, Session: h.session, Token: h.token, From: h.start, To: h.end,
		Open: h.end == forever, Event: h.acquire.done, Line: histories.Line(h.acquire.done), Invoke: h.acquire.invoke,
	}
}

// party returns the party whose part is that it was told to release.
func (e releaseNotice) party() Party {
	return Party{
		Process: e.Process, Owner: e.Owner, Session: e.Session, Token: e.Token, From: e.Time, To: e.Time,
		Event: e.n, Line: histories.Line(e.n), Invoke: e.n,
	}
}
