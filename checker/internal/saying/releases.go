package saying

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// gaveBack judges a release that succeeded, in virtual time: its lease had not been lost before, by
// a notification to its holder or because another client had deleted its node.
//
// A re-entry of one of several locks may be given back, though another one was lost. A session that
// ends takes its nodes with it, and a release that is not answered then succeeds. So does one whose
// request was repeated and may have been carried out before; a fault is near then.
func (s *sayings) gaveBack(o *facts.Op) {
	if log := s.t.Service; log == nil || !log.Exact() || !s.t.Header.Promises.Returns {
		return
	}
	if h := o.Hold; h != nil {
		s.gone(o, h)
		return
	}
	l := s.leases[facts.LeaseKey{Lock: o.Lock, Token: o.Token}]
	if l == nil || l.hold == nil || l.hold.Why != facts.ByLoss || l.hold.Process != o.Process || l.hold.Mode != o.Mode || l.hold.End >= o.Call || l.hold.Acquire.Parts != o.Parts {
		return
	}
	p := judge.OpParty(o)
	s.wrong(p, o.Lock, fmt.Sprintf("the release of %v of lock %q succeeded at %s; the lease had been lost, as its holder had been told at %s", p, o.Lock, verdict.At(o.Ret), verdict.At(l.hold.End)))
}

// gone judges the successful release of a hold whose node may have been gone. A release that hands the node
// on within its client asks no server.
func (s *sayings) gone(o *facts.Op, h *facts.Hold) {
	log := s.t.Service
	if h.Recipe() == histories.Handoff || h.EndEvent != o.Invoke || h.Token.Sub > 0 && !h.Recipe().HasPermits() {
		return
	}
	n := log.GoneBefore(h, o.Call)
	if n == nil || n.Ended || n.By == "" {
		return
	}
	if end := log.SessionEnd(h.Session); end != nil && end.Closed.Time <= o.Ret+s.t.Lifetime() {
		return
	}
	for range s.t.Faults.ReachingOrOnServers(o.Process, o.Call, o.Ret) {
		return
	}
	p := judge.OpParty(o)
	s.wrong(p, o.Lock, fmt.Sprintf("the release of %v of lock %q succeeded at %s; the lease was lost: another client, of session %s, had deleted its node at %s", p, o.Lock, verdict.At(o.Ret), n.By, verdict.At(n.Deleted.Time)))
}

// notLost finds releases that reported, before the deadline of the lease, that the lease was lost,
// although they gave it back themselves: by the servers' log their session deleted the lock's node
// while they were under way.
func (s *sayings) notLost() {
	if s.t.Service == nil || !s.t.Service.Exact() {
		return
	}
	for _, o := range s.refused {
		if o.Parts > 1 || !o.Recipe().Guards() || o.Hold.Token.Sub > 0 {
			continue // another of its nodes may be gone, or the node is another lease's too
		}
		n := s.t.Service.NodeOfToken(o.Lock, o.Hold.Token)
		if n == nil || n.Deleted == nil || n.Ended || n.By != "" || n.Session != o.Hold.Session || n.Deleted.Time < o.Call || n.Deleted.Time > o.Ret {
			continue
		}
		p := judge.OpParty(o)
		s.wrong(p, o.Lock, fmt.Sprintf("the release of %v of lock %q reported at %s that the lease was lost; its node was deleted at %s by that release, and the lease was good until later",
			p, o.Lock, verdict.At(o.Ret), verdict.At(n.Deleted.Time)))
	}
}
