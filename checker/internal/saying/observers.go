package saying

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// lease returns the record of a lease.
func (s *sayings) lease(key facts.LeaseKey) *leaseSaid {
	l := s.leases[key]
	if l == nil {
		l = &leaseSaid{key: key}
		s.leases[key] = l
	}
	return l
}

// told takes in a notification of an observer: a lease was acquired, and later lost or
// released, each once.
func (s *sayings) told(i int, e *histories.Event) {
	s.notifications++
	l := s.lease(facts.LeaseKey{Lock: e.Lock, Token: e.Token})
	n := &l.acquired
	switch e.Saying.Told {
	case histories.ToldLost:
		n = &l.lost
	case histories.ToldReleased:
		n = &l.released
	default:
		s.contends.granted(i, e)
	}
	p := s.party(i, e, l.hold)
	if *n++; *n == 2 {
		s.wrong(p, e.Lock, fmt.Sprintf("an observer was told twice, by %s, that the lease with token %s on lock %q was %s", verdict.At(e.Time), verdict.Token(e.Token), e.Lock, e.Saying.Told))
	}
	if l.lost+l.released == 2 && l.lost == l.released {
		s.wrong(p, e.Lock, fmt.Sprintf("an observer was told, by %s, that the lease with token %s on lock %q was lost, and that it was released", verdict.At(e.Time), verdict.Token(e.Token), e.Lock))
	}
	s.settle(l)
	s.overtake(l)
	s.forget(e)
}

// settle compares the observers' notification of the end of a lease with the record.
func (s *sayings) settle(l *leaseSaid) {
	h := l.hold
	if h == nil || l.lost+l.released != 1 || h.EndEvent < 0 || h.Closed {
		return
	}
	switch {
	case l.lost == 1 && h.Why == facts.ByRelease && h.Released != facts.Forever:
		s.wrong(endOf(h), h.Lock, fmt.Sprintf("an observer was told that the lease of %v on lock %q was lost, which %v gave back at %s", judge.HoldParty(h), h.Lock, judge.HoldParty(h), verdict.At(h.Released)))
	case l.released == 1 && h.Why == facts.ByLoss && h.Acquire.Parts > 1:
		return // another one of several was lost, and the rest released
	case l.released == 1 && h.Why == facts.ByLoss:
		s.wrong(endOf(h), h.Lock, fmt.Sprintf("an observer was told that the lease of %v on lock %q was given back, which had been lost at %s", judge.HoldParty(h), h.Lock, verdict.At(h.End)))
	default:
		return
	}
	l.lost = 2 // so that it is reported once
}

// endOf returns the party whose part is the end of its hold.
func endOf(h *facts.Hold) verdict.Party {
	p := judge.HoldParty(h)
	p.From = h.End
	return p
}

// overtake records that observers were told of a lease. They must have been told of earlier
// leases of the same process before, or they never will be.
func (s *sayings) overtake(l *leaseSaid) {
	if l.hold == nil {
		return
	}
	u := s.unsaidOf(l.hold.By)
	u.since = max(u.since, l.hold.Call)
	if len(u.all) <= 2*u.kept+16 {
		return
	}
	u.all = slices.DeleteFunc(u.all, func(other *leaseSaid) bool { return u.overtook(other) && other.whole() })
	u.kept = len(u.all)
}

// unsaid holds the leases of a process about which observers may still be told.
type unsaid struct {
	all   []*leaseSaid
	kept  int           // the length of all after the last removal
	since time.Duration // the latest call of an acquire whose lease observers were told of
}

// overtook reports whether observers were told of a lease that was asked for after l was over.
func (u *unsaid) overtook(l *leaseSaid) bool { return l.hold.EndEvent >= 0 && l.hold.End < u.since }

func (s *sayings) unsaidOf(p *facts.Process) *unsaid {
	u := s.waiting[p]
	if u == nil {
		u = &unsaid{}
		s.waiting[p] = u
	}
	return u
}

// whole reports whether observers were told of the acquire and the end of a lease.
func (l *leaseSaid) whole() bool { return l.acquired > 0 && l.lost+l.released > 0 }

// untold judges, at the end, the notifications that observers never got.
func (s *sayings) untold() {
	for _, p := range s.t.Processes {
		u := s.unsaidOf(p)
		for _, l := range u.all {
			h := l.hold
			if !u.overtook(l) || l.whole() || h.Why == facts.ByCrashing {
				continue
			}
			end := "was released"
			if h.Why == facts.ByLoss {
				end = "was lost"
			}
			if l.acquired == 0 {
				end = "was acquired"
			}
			s.wrong(endOf(h), h.Lock, fmt.Sprintf("no observer was told that the lease of %v on lock %q %s, though they were told of later ones", judge.HoldParty(h), h.Lock, end))
		}
	}
}

// forget drops leases whose notifications were complete a while ago.
func (s *sayings) forget(e *histories.Event) {
	if l := s.leases[facts.LeaseKey{Lock: e.Lock, Token: e.Token}]; e.Saying.Told != histories.ToldAcquired {
		l.done = e.Time
		s.complete = append(s.complete, l)
	}
	n := 0
	for n < len(s.complete) && s.complete[n].done < e.Time-remembered {
		n++
	}
	for _, l := range s.complete[:n] {
		if l.done < e.Time-remembered && s.leases[l.key] == l {
			delete(s.leases, l.key)
		}
	}
	s.complete = slices.Delete(s.complete, 0, n)
}
