package saying

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// early is a loss that was told before a deadline that a lease of the session had reported, and that
// was firm.
type early struct {
	firm deadline
	hold *facts.Hold // nil: a listener was told that the connection is lost
	said verdict.Party
	at   time.Duration
}

// lostBefore takes in a hold whose loss was told, if a deadline of its session is later. It takes none
// whose node may be another lease's too, or that has several nodes.
func (s *sayings) lostBefore(h *facts.Hold) {
	d, told := s.firm[h.Session]
	if !told || d.at <= h.End || h.Acquire.Parts > 0 || h.Recipe().HasPermits() || h.Recipe() == histories.ReadWrite && (h.Token.Sub > 0 || h.Acquire.Beside != nil) {
		return
	}
	s.early = append(s.early, early{d, h, judge.HoldParty(h), h.End})
}

// lostLink takes in the notice that a connection is lost, if a deadline of its session is later: it is
// lost at the deadline of the session's leases at the earliest.
func (s *sayings) lostLink(i int, e *histories.Event) {
	if d, told := s.firm[e.Session]; told && d.at > e.Saying.Asked {
		s.early = append(s.early, early{d, nil, s.party(i, e, nil), e.Saying.Asked})
	}
}

// tooEarly judges the losses that were told before a firm deadline: the servers' log shows whether the
// session had ended, or the node was gone. It judges in virtual time alone, where both are exact.
func (s *sayings) tooEarly() {
	log := s.t.Service
	if log == nil || !log.Exact() || !s.t.Header.Promises.Returns {
		return
	}
	for _, x := range s.early {
		session := x.firm.session
		if end := log.SessionEnd(session); end != nil && end.Closed.Time <= x.at || s.t.Faults.WasForced(session, x.said.Process, x.firm.asked-s.t.Calm(), x.at) {
			continue
		}
		if x.hold == nil {
			s.wrong(x.said, x.firm.lock, fmt.Sprintf("a listener of %v was told at %s that its connection is lost; its session went on, and a lease of it on lock %q was good until %s, as it said at %s, also without a link",
				x.said, verdict.At(x.at), x.firm.lock, verdict.At(x.firm.at), verdict.At(x.firm.asked)))
			continue
		}
		if n := log.NodeOf(x.hold); n == nil || n.Deleted != nil && n.Deleted.Time <= x.at {
			continue
		}
		s.wrong(x.said, x.hold.Lock, fmt.Sprintf("%v was told at %s that it had lost lock %q; its node stood, its session went on, and the lease was good until %s, as a lease of the session said at %s, also without a link",
			x.said, verdict.At(x.at), x.hold.Lock, verdict.At(x.firm.at), verdict.At(x.firm.asked)))
	}
}
