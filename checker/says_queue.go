package checker

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// queueSaid is the queue of a lock, as far as lists of it can be held against it.
type queueSaid struct {
	standing []*op // acquires that have told their place
	listed   []listed
	left     []leftQueue // released, in that order
	byHand   bool        // a place may serve several: its release does not mean that it has left
}

// listed is an acquire that stood in the queue while a list was made, if its lease
// is given back in the end: then its node was there all the time.
type listed struct {
	op      *op
	place   histories.Token
	there   bool
	session string // that the list names
	said    Party
	n       int // how long the list was
}

type leftQueue struct {
	zxid int64
	at   time.Duration
	hold *hold
}

// remembered is for how long it is known who has left a queue, and what observers
// were told.
const remembered = 10 * time.Second

func (s *sayings) line(lock string) *queueSaid {
	q := s.lines[lock]
	if q == nil {
		q = &queueSaid{}
		s.lines[lock] = q
	}
	return q
}

// placed takes in that an acquire has told its place.
func (s *sayings) placed(o *op) {
	if q := s.line(o.lock); !o.recipe().HasPermits() && o.recipe() != histories.NonReentrant && !slices.Contains(q.standing, o) {
		q.standing = append(q.standing, o)
	}
}

// left takes in that a hold has been given back: its node is gone, and was there
// until then.
func (s *sayings) left(h *hold) {
	q := s.lines[h.lock]
	if q == nil {
		return
	}
	q.listed = slices.DeleteFunc(q.listed, func(l listed) bool {
		if l.op != h.acquire {
			return l.op.done >= 0 && (l.op.hold == nil || l.op.hold.endEvent >= 0 && l.op.hold.why != byRelease)
		}
		s.inList(l, h)
		return true
	})
	q.byHand = q.byHand || h.token.Sub != 0 && h.mode == ""
	i := 0
	for i < len(q.left) && q.left[i].at < h.released-remembered {
		i++
	}
	q.left = append(slices.Delete(q.left, 0, i), leftQueue{h.token.Zxid, h.released, h})
}

// inList judges a list in which a contender must have stood.
func (s *sayings) inList(l listed, h *hold) {
	if l.place != h.token || h.token.Sub != 0 {
		return // it had another place by then
	}
	switch {
	case !l.there:
		s.wrong(l.said, h.lock, fmt.Sprintf("%v was told at %s that %s in the queue of lock %q, and %v was not among them, which stood there with token %s until %s",
			l.said, at(l.said.To), stand(l.n), h.lock, h.party(), token(h.token), at(h.end)))
	case l.session != "" && h.session != "" && l.session != h.session:
		s.wrong(l.said, h.lock, fmt.Sprintf("%v was told at %s that token %s in the queue of lock %q is of session %s, and it is of %s",
			l.said, at(l.said.To), token(h.token), h.lock, l.session, h.session))
	}
}

func stand(n int) string {
	if n == 1 {
		return "1 contender stood"
	}
	return words.Count(n, "contender") + " stood"
}

// aboutQueue judges a list of a queue.
func (s *sayings) aboutQueue(i int, e *histories.Event) {
	s.queues++
	q, said := s.line(e.Lock), s.party(i, e, nil)
	list := e.Saying.Queue
	if s.t.recipe(e.Lock).Exclusive() && !slices.IsSortedFunc(list, func(a, b histories.Participant) int { return a.Token.Compare(b.Token) }) {
		s.wrong(said, e.Lock, fmt.Sprintf("%v was told at %s of a queue of lock %q that is not in the order of its tokens", said, at(e.Time), e.Lock))
	}
	for _, gone := range q.left {
		// A writer's place may have a reader of the same owner behind it.
		there := slices.ContainsFunc(list, func(p histories.Participant) bool { return p.Token.Zxid == gone.zxid })
		if there && gone.at < e.Saying.Asked && !q.byHand {
			s.stale = append(s.stale, staleList{said, gone})
		}
	}
	q.standing = slices.DeleteFunc(q.standing, func(o *op) bool {
		return o.gone || o.done >= 0 && (o.hold == nil || o.hold.endEvent >= 0)
	})
	for _, o := range q.standing {
		place := o.places[len(o.places)-1]
		if place.time >= e.Saying.Asked || s.t.tookAway(o, place, e.Time) {
			continue
		}
		l := listed{op: o, place: place.token, said: said, n: len(list)}
		for _, p := range list {
			if p.Token.Zxid == place.token.Zxid {
				l.there, l.session = true, p.Session
			}
		}
		q.listed = append(q.listed, l)
	}
}

// tookAway reports whether a fault may have taken away, by the given time, the node by
// which an acquire stands in a queue. Who cannot reach a server does not hear of it, may
// be granted the lock after that, and gives it back without being told otherwise.
func (t *trace) tookAway(o *op, p place, by time.Duration) bool {
	if t.faults.wasForced(p.session, o.process, p.time, by) {
		return true
	}
	zxid := strconv.FormatInt(p.token.Zxid, 10)
	return len(t.faults.forcedThat(func(f *faultSpan) bool {
		return f.Name == histories.NodeDeletion && f.Params["lock"] == o.lock && f.Params["token"] == zxid // also a failed one: it may have been carried out
	}, p.time, by)) > 0
}

// staleList is a list that had who had given the lock back before it was asked for.
type staleList struct {
	said Party
	gone leftQueue
}

// listedLate judges, at the end, the lists that had somebody in them who had left. Only
// then is it known of whom the session had not ended under the release: see livedOn.
func (s *sayings) listedLate() {
	for _, l := range s.stale {
		if h := l.gone.hold; s.t.sessions.livedOn(h) {
			s.wrong(l.said, h.lock, fmt.Sprintf("%v was told at %s that token %#x stood in the queue of lock %q, which %v had given back by %s",
				l.said, at(l.said.To), l.gone.zxid, h.lock, h.party(), at(l.gone.at)))
		}
	}
}
