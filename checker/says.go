package checker

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// sayings are what locks say of themselves, held against the record while it is
// read. An answer was so at some time between the question and its record: it is
// wrong when it was so at no time in between.
type sayings struct {
	deaf
	t *trace
	v *Verdict

	answers, queues, nodes, tellings, places int // that were held against something

	deadlines map[string]deadline   // by session: the latest that a lease of it told
	lines     map[string]*queueSaid // by lock
	stale     []staleList
	leases    map[leaseKey]*leaseSaid
	complete  []*leaseSaid // of which observers were told all, in that order
	waiting   map[*process][]*leaseSaid
	answered  map[*process]time.Duration // since when a process has nothing under way
}

// leaseSaid is a lease, and what observers were told of it.
type leaseSaid struct {
	key                      leaseKey
	hold                     *hold // nil until its acquire is on record
	acquired, lost, released int
	done                     time.Duration
	overtaken                bool // observers were told of a later lease of its process
}

// newSayings returns the judge of what locks say of themselves. It judges while the
// record is read.
func newSayings(t *trace, v *Verdict) *sayings {
	s := &sayings{
		t: t, v: v, deadlines: map[string]deadline{}, lines: map[string]*queueSaid{},
		leases: map[leaseKey]*leaseSaid{}, waiting: map[*process][]*leaseSaid{}, answered: map[*process]time.Duration{},
	}
	if t.header.Promises.Says {
		t.listen(s)
	}
	return s
}

func (s *sayings) window(*engines, *trace) {}

func (s *sayings) conclude(*engines, *trace) {
	v := s.v
	if !s.t.header.Promises.Says {
		v.idle("not promised by the target")
		return
	}
	s.untold()
	s.listedLate()
	v.Promised, v.Expected = true, true
	v.count("answers of leases and locks", s.answers)
	v.count("lists of a queue", s.queues)
	v.count("nodes that were looked at", s.nodes)
	v.count("grants held against the place that was told", s.places)
	v.count("tellings of observers", s.tellings)
	if s.answers+s.queues+s.nodes+s.tellings == 0 {
		v.idle("no lock was asked what it says of itself")
		return
	}
	v.conclude(fmt.Sprintf("%s, %s and %s agree with the record", words.Count(s.answers, "answer"), words.Count(s.queues, "queue"), words.Count(s.tellings, "telling")),
		words.Count(v.Violations, "time")+" a lock said of itself what is not so")
}

func (s *sayings) event(i int, e *histories.Event) {
	switch e.Type {
	case histories.Says:
		s.said(i, e)
	case histories.Expired:
		if _, seen := s.t.sessions.expired[e.Session]; !seen {
			s.expired(e.Session, e.Time)
		}
	}
}

// said takes in one saying.
func (s *sayings) said(i int, e *histories.Event) {
	if e.Saying.Told != "" {
		s.told(i, e)
		return
	}
	key := leaseKey{locksOf(e)[0], e.Token}
	if e.Parts != nil {
		key.token = e.Parts[0].Token
	}
	var h *hold
	if l := s.leases[key]; l != nil {
		h = l.hold
	}
	s.answers++
	s.aboutLease(i, e, h)
	s.aboutHeld(i, e, h)
	if e.Saying.Queue != nil {
		s.aboutQueue(i, e)
	}
}

// completed takes in the end of an operation, when holds know of it.
func (s *sayings) completed(o *op) {
	s.answered[o.by] = o.ret
	switch {
	case o.acquires() && o.ok() && o.hold != nil && o.hold.acquire == o:
		l := s.lease(leaseKey{o.lock, o.token})
		l.hold = o.hold
		if s.tellings > 0 {
			s.waiting[o.by] = append(s.waiting[o.by], l)
			s.settle(l)
		}
		if l.acquired > 0 {
			s.overtake(l)
		}
		s.asPlaced(o)
	case o.kind == histories.Release && o.hold != nil && o.hold.endEvent == o.invoke:
		if l := s.leases[leaseKey{o.lock, o.hold.token}]; l != nil && l.hold == o.hold {
			if s.tellings == 0 { // nobody tells
				delete(s.leases, l.key)
			}
			s.settle(l)
		}
		if o.ok() {
			s.left(o.hold)
		}
	}
}

// asPlaced judges a grant against the place that its acquire told last.
func (s *sayings) asPlaced(o *op) {
	if len(o.places) == 0 {
		return
	}
	none, p := histories.Token{}, o.places[len(o.places)-1]
	if p.token == none || o.token.Sub != 0 && p.token.Sub == 0 {
		return // granted by hand, by whoever had the place
	}
	s.places++
	if p.token != o.token {
		s.v.violate(func() Witness {
			w := s.t.newWitness(o.lock, p.time, o.ret, o.party())
			w.What = fmt.Sprintf("%v was told at %s that its place in the queue of lock %q has token %s, and was granted it with token %s", o.party(), at(p.time), o.lock, token(p.token), token(o.token))
			return w
		})
	}
}

// party is who says something, and when.
func (s *sayings) party(i int, e *histories.Event, h *hold) Party {
	p := Party{
		Process: e.Process, Owner: e.Owner, Session: e.Session, Token: e.Token, From: e.Saying.Asked, To: e.Time,
		Event: i, Line: histories.Line(i), Invoke: i,
	}
	if h != nil {
		p.Owner, p.Token, p.Invoke = h.owner, h.token, h.acquire.invoke
	}
	return p
}

// wrong is a violation by one saying.
func (s *sayings) wrong(p Party, lock, what string) {
	s.v.violate(func() Witness {
		w := s.t.newWitness(lock, p.From, p.To, p)
		w.What = what
		return w
	})
}
