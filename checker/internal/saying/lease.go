package saying

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// deadline is a deadline that a lease reported, and so a promise about its session.
type deadline struct {
	at      time.Duration
	said    verdict.Party
	lock    string
	session string
	asked   time.Duration
}

// aboutLease judges the answers of a lease about itself. h is its hold, nil if none is on
// record.
func (s *sayings) aboutLease(i int, e *histories.Event, h *facts.Hold) {
	said, p := e.Saying, s.party(i, e, h)
	lock := facts.LocksOf(e)[0]
	open := h != nil && h.EndEvent < 0
	lost := h != nil && h.Why == facts.ByLoss && h.End <= said.Asked
	switch {
	case said.Valid == nil || !*said.Valid:
	case said.Left != nil && *said.Left <= 0:
		s.wrong(p, lock, fmt.Sprintf("the lease of %v on lock %q said at %s that it was valid, %s after its own deadline", p, lock, verdict.At(said.Asked), verdict.Ms(-*said.Left)))
	case lost:
		s.wrong(p, lock, fmt.Sprintf("the lease of %v on lock %q said at %s that it was valid, and its loss had been told at %s", p, lock, verdict.At(said.Asked), verdict.At(h.End)))
	}
	if said.Left != nil && said.Least != nil && *said.Left > *said.Least {
		s.wrong(p, lock, fmt.Sprintf("the lease of %v on %d locks said at %s that it was good until %s, and one of its parts only until %s",
			p, len(e.Parts), verdict.At(said.Asked), verdict.At(said.Asked+*said.Left), verdict.At(said.Asked+*said.Least)))
	}
	switch {
	case said.Ended == nil:
	case *said.Ended && open:
		s.wrong(p, lock, fmt.Sprintf("the context of the lease of %v on lock %q had ended at %s, and the lease went on", p, lock, verdict.At(e.Time)))
	case !*said.Ended && lost && ranFor(s.t, h.Process, h.End, e.Time) >= histories.EndBound:
		s.wrong(p, lock, fmt.Sprintf("the lease of %v on lock %q was lost at %s, and its context had not ended by %s", p, lock, verdict.At(h.End), verdict.At(e.Time)))
	}
	if said.Depth != 0 && e.Depth != 0 && said.Depth != e.Depth {
		s.wrong(p, lock, fmt.Sprintf("the lease of %v on lock %q said at %s that its depth was %d; its owner had acquired %d times", p, lock, verdict.At(e.Time), said.Depth, e.Depth))
	}
	if said.Created != 0 {
		s.nodes++
		// A reader that was a writer before has the writer's node, and so on.
		if e.Token.Sub == 0 && e.Token.Zxid != said.Created {
			s.wrong(p, lock, fmt.Sprintf("%v holds lock %q with token %s, and the servers have created its node in transaction %#x", p, lock, verdict.Token(e.Token), said.Created))
		}
	}
	if said.Left != nil && e.Session != "" {
		d := deadline{said.Asked + *said.Left, p, lock, e.Session, said.Asked}
		if gone, ended := s.t.Sessions.Expired[e.Session]; ended {
			s.tooLate(d, gone)
		} else {
			if d.at > s.deadlines[e.Session].at {
				s.deadlines[e.Session] = d
			}
			if said.Firm && d.at > s.firm[e.Session].at {
				s.firm[e.Session] = d
			}
		}
	}
}

// ranFor returns the least time for which a process has run in [from, to]: without its pauses,
// and without the stalls of the recording process, which may be its own.
func ranFor(t *facts.Trace, process int, from, to time.Duration) time.Duration {
	ran := to - from
	for _, paused := range t.Faults.PausedIn(process, from, to) {
		ran -= min(paused.To, to) - max(paused.From, from)
	}
	return ran
}

// expired judges the deadlines of leases of a session that has ended.
func (s *sayings) expired(session string, gone time.Duration) {
	if d, told := s.deadlines[session]; told {
		s.tooLate(d, gone)
		delete(s.deadlines, session)
	}
	delete(s.firm, session)
}

// tooLate judges a deadline: the servers must not end the session before it, unless a fault
// forces the session to expire. The end is seen late, which is lenient.
func (s *sayings) tooLate(d deadline, gone time.Duration) {
	if d.at <= gone || s.t.Faults.WasForced(d.session, d.said.Process, d.asked-s.t.Calm(), gone) {
		return
	}
	s.wrong(d.said, d.lock, fmt.Sprintf("the lease of %v on lock %q said at %s that it was good until %s, and the servers had ended its session by %s", d.said, d.lock, verdict.At(d.asked), verdict.At(d.at), verdict.At(gone)))
}

// aboutHeld judges the client's answer whether it holds the lock.
func (s *sayings) aboutHeld(i int, e *histories.Event, h *facts.Hold) {
	if e.Saying.Held == nil {
		return
	}
	p := s.party(i, e, h)
	switch says := *e.Saying.Held; {
	case !says && h != nil && h.EndEvent < 0:
		s.wrong(p, e.Lock, fmt.Sprintf("the client of %v said at %s that it did not hold lock %q, which that has held since %s", p, verdict.At(e.Time), e.Lock, verdict.At(h.Start)))
	case says && s.free(e, h):
		s.wrong(p, e.Lock, fmt.Sprintf("the client of %v said at %s that it held lock %q, which no process holds through it any more", p, verdict.At(e.Time), e.Lock))
	}
}

// free reports whether no process can have held the lock, through the client that was asked,
// since the question.
func (s *sayings) free(e *histories.Event, h *facts.Hold) bool {
	p := s.t.Process(e.Process)
	if len(p.Open) > 0 || s.answered[p] > e.Saying.Asked || h != nil && (h.EndEvent < 0 || h.End > e.Saying.Asked) {
		return false
	}
	return s.users[user{e.Lock, e.Mode, "", e.Process}] == 0 && s.users[user{e.Lock, e.Mode, e.Session, noProcess}] == 0 &&
		s.users[user{e.Lock, anyMode, e.Session, noProcess}] == 0
}

// user identifies uses of a lock through a client: holds in a mode, by process and by session,
// and operations under way in anyMode, by session.
type user struct {
	lock    string
	mode    histories.Mode
	session string
	process int
}

const (
	noProcess = -1
	anyMode   = "any"
)

func (s *sayings) use(u user, n int) {
	if s.users[u] += n; s.users[u] == 0 {
		delete(s.users, u)
	}
}

// Began and Ended count holds.
func (s *sayings) Began(h *facts.Hold) { s.holds(h, 1) }

func (s *sayings) Ended(h *facts.Hold) {
	s.holds(h, -1)
	if h.Why == facts.ByLoss {
		s.lostBefore(h)
	}
}

func (s *sayings) holds(h *facts.Hold, n int) {
	s.use(user{h.Lock, h.Mode, "", h.Process}, n)
	s.use(user{h.Lock, h.Mode, h.Session, noProcess}, n)
}

// Invoked counts an operation that is under way, and ends removes those of a process that are
// over.
func (s *sayings) Invoked(o *facts.Op) {
	s.use(user{o.Lock, anyMode, o.Session, noProcess}, 1)
	if o.Kind == histories.Revoke {
		s.contends.asked(o)
	}
}

func (s *sayings) ends(process int) {
	for _, o := range s.t.Process(process).Open {
		s.use(user{o.Lock, anyMode, o.Session, noProcess}, -1)
	}
}
