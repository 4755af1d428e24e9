package saying

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// sayings are the answers of locks about themselves, compared with the record while it is read.
// An answer was true at some time between the question and its record; it is wrong if it was
// true at no time in between.
type sayings struct {
	facts.Deaf
	t *facts.Trace
	v *verdict.Verdict

	answers, queues, nodes, notifications, places int // that were compared with the record

	deadlines map[string]deadline // by session: the latest that a lease of it reported
	firm      map[string]deadline // of those that are firm
	early     []early
	lines     map[string]*queueSaid // by lock
	stale     []staleList
	leases    map[facts.LeaseKey]*leaseSaid
	complete  []*leaseSaid // whose observers were told everything, in that order
	waiting   map[*facts.Process]*unsaid
	contends  contentions
	states    states
	users     map[user]int
	refused   []*facts.Op                      // releases that reported a loss before the deadline
	answered  map[*facts.Process]time.Duration // since when a process has no operation under way
}

// leaseSaid is a lease, with the counts of the notifications of observers about it.
type leaseSaid struct {
	key                      facts.LeaseKey
	hold                     *facts.Hold // nil until its acquire is on record
	acquired, lost, released int
	done                     time.Duration
}

// New returns the judge of the answers of locks about themselves. It judges while the history
// is read.
func New(t *facts.Trace, v *verdict.Verdict) judge.Judge {
	s := &sayings{
		t: t, v: v, deadlines: map[string]deadline{}, firm: map[string]deadline{}, lines: map[string]*queueSaid{},
		leases: map[facts.LeaseKey]*leaseSaid{}, waiting: map[*facts.Process]*unsaid{}, answered: map[*facts.Process]time.Duration{},
	}
	s.users, s.contends = map[user]int{}, newContentions(s)
	s.states = states{of: s, connections: map[int]string{}}
	if t.Header.Promises.Says {
		t.Listen(s)
	}
	return s
}

func (s *sayings) Window(*judge.Engines, *facts.Trace) int { return 0 }

func (s *sayings) Conclude(*judge.Engines, *facts.Trace) {
	v := s.v
	if !s.t.Header.Promises.Says {
		v.Idle("not promised by the target")
		return
	}
	s.untold()
	s.contends.conclude()
	s.listedLate()
	s.notLost()
	s.tooEarly()
	v.Promised, v.Expected = true, true
	v.Count("answers of leases and locks", s.answers)
	v.Count("lists of a queue", s.queues)
	v.Count("nodes that were looked at", s.nodes)
	v.Count("grants held against the place that was told", s.places)
	v.Count("notifications of observers", s.notifications)
	if s.answers+s.queues+s.nodes+s.notifications == 0 {
		v.Idle("no lock was asked what it says of itself")
		return
	}
	v.Conclude(fmt.Sprintf("%s, %s and %s agree with the record", words.Count(s.answers, "answer"), words.Count(s.queues, "queue"), words.Count(s.notifications, "notification")),
		words.Count(v.Violations, "time")+" a lock said of itself what is not so")
}

func (s *sayings) Event(i int, e *histories.Event) {
	if len(s.states.odd) > 0 {
		s.states.settle(e.Time)
	}
	switch e.Type {
	case histories.OK, histories.Fail, histories.Info, histories.Crash:
		s.ends(e.Process) // before its session may change
		if e.Type == histories.Crash {
			s.contends.crashed(s.t.Process(e.Process))
		}
	case histories.Says:
		s.said(i, e)
	case histories.RevokeRequested:
		s.contends.heard(i, e)
	case histories.Expired:
		if _, seen := s.t.Sessions.Expired[e.Session]; !seen {
			s.expired(e.Session, e.Time)
		}
	}
}

// said takes in one answer or notification.
func (s *sayings) said(i int, e *histories.Event) {
	switch e.Saying.Told {
	case "":
	case histories.ToldAcquiring, histories.ToldGaveUp, histories.ToldUnheard, histories.ToldRevokeRequested:
		s.contends.tell(i, e)
		return
	default:
		s.told(i, e)
		return
	}
	if e.Saying.Connection != "" {
		s.states.told(i, e)
		return
	}
	key := facts.LeaseKey{Lock: facts.LocksOf(e)[0], Token: e.Token}
	if e.Parts != nil {
		key.Token = e.Parts[0].Token
	}
	var h *facts.Hold
	if l := s.leases[key]; l != nil {
		h = l.hold
	}
	s.answers++
	s.aboutLease(i, e, h)
	s.states.about(i, e, h)
	s.aboutHeld(i, e, h)
	if e.Saying.Queue != nil {
		s.aboutQueue(i, e)
	}
}

// Completed takes in the end of an operation, after its hold was updated.
func (s *sayings) Completed(o *facts.Op) {
	s.answered[o.By] = o.Ret
	if o.Acquires() {
		s.contends.ended(o)
	}
	if o.Kind == histories.Release && o.OK() {
		s.gaveBack(o)
	}
	switch {
	case o.Acquires() && o.OK() && o.Hold != nil && o.Hold.Acquire == o:
		l := s.lease(facts.LeaseKey{Lock: o.Lock, Token: o.Token})
		l.hold = o.Hold
		if s.notifications > 0 {
			u := s.unsaidOf(o.By)
			u.all = append(u.all, l)
			s.settle(l)
		}
		if l.acquired > 0 {
			s.overtake(l)
		}
		s.asPlaced(o)
	case o.Kind == histories.Release && o.Hold != nil && o.Hold.EndEvent == o.Invoke:
		if l := s.leases[facts.LeaseKey{Lock: o.Lock, Token: o.Hold.Token}]; l != nil && l.hold == o.Hold {
			if s.notifications == 0 { // the target has no observers
				delete(s.leases, l.key)
			}
			s.settle(l)
		}
		if o.OK() {
			s.left(o.Hold)
		} else if o.Refused {
			s.refused = append(s.refused, o)
		}
	}
}

// asPlaced compares a grant with the last place that its acquire reported.
func (s *sayings) asPlaced(o *facts.Op) {
	if len(o.Places) == 0 {
		return
	}
	none, p := histories.Token{}, o.Places[len(o.Places)-1]
	if p.Token == none || o.Token.Sub != 0 && p.Token.Sub == 0 {
		return // handed on by the client that had the place
	}
	s.places++
	if p.Token != o.Token {
		s.v.Violate(func() verdict.Witness {
			w := judge.NewWitness(s.t, o.Lock, p.Time, o.Ret, judge.OpParty(o))
			w.What = fmt.Sprintf("%v was told at %s that its place in the queue of lock %q has token %s, and was granted it with token %s", judge.OpParty(o), verdict.At(p.Time), o.Lock, verdict.Token(p.Token), verdict.Token(o.Token))
			return w
		})
	}
}

// party returns the party of an answer, with its time.
func (s *sayings) party(i int, e *histories.Event, h *facts.Hold) verdict.Party {
	p := verdict.Party{
		Process: e.Process, Name: s.t.Header.Name(e.Process), Owner: e.Owner, Session: e.Session, Token: e.Token, From: e.Saying.Asked, To: e.Time,
		Event: i, Line: histories.Line(i), Invoke: i,
	}
	if h != nil {
		p.Owner, p.Token, p.Invoke = h.Owner, h.Token, h.Acquire.Invoke
	}
	return p
}

// wrong reports a violation by one answer.
func (s *sayings) wrong(p verdict.Party, lock, what string) {
	s.v.Violate(func() verdict.Witness {
		w := judge.NewWitness(s.t, lock, p.From, p.To, p)
		w.What = what
		return w
	})
}
