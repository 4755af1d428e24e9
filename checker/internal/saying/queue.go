package saying

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/witness"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// queueSaid is the queue of a lock, as far as lists of it can be held against it.
type queueSaid struct {
	lists   lists
	left    []leftQueue     // released, in that order
	dropped int             // how many there were before those
	leftBy  map[int64][]int // their numbers, counted from the first that ever left, by zxid
	byHand  bool            // a place may serve several: its release does not mean that it has left
}

type leftQueue struct {
	zxid int64
	at   time.Duration
	hold *facts.Hold
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

// Placed takes in that an acquire has told its place.
func (s *sayings) Placed(o *facts.Op) {
	if q := s.line(o.Lock); !o.Recipe().HasPermits() && o.Recipe() != histories.NonReentrant && len(o.Places) == 1 {
		q.lists.stands(o)
	}
}

// left takes in that a hold has been given back: its node is gone, and was there
// until then.
func (s *sayings) left(h *facts.Hold) {
	q := s.lines[h.Lock]
	if q == nil {
		return
	}
	s.givenBack(&q.lists, h)
	q.byHand = q.byHand || h.Token.Sub != 0 && h.Mode == ""
	i := 0
	for i < len(q.left) && q.left[i].at < h.Released-remembered {
		i++
	}
	q.forget(i)
	if q.leftBy == nil {
		q.leftBy = map[int64][]int{}
	}
	q.leftBy[h.Token.Zxid] = append(q.leftBy[h.Token.Zxid], q.dropped+len(q.left))
	q.left = append(q.left, leftQueue{h.Token.Zxid, h.Released, h})
}

// forget drops the first n of those who have left.
func (q *queueSaid) forget(n int) {
	for _, l := range q.left[:n] {
		if numbers := q.leftBy[l.zxid][1:]; len(numbers) > 0 {
			q.leftBy[l.zxid] = numbers
		} else {
			delete(q.leftBy, l.zxid)
		}
	}
	q.left, q.dropped = slices.Delete(q.left, 0, n), q.dropped+n
}

// leftOf returns those who have left and are in a list, in the order in which they have left.
func (q *queueSaid) leftOf(list []histories.Participant) []leftQueue {
	var numbers []int
	for _, p := range list {
		numbers = append(numbers, q.leftBy[p.Token.Zxid]...)
	}
	slices.Sort(numbers)
	var all []leftQueue
	for _, n := range slices.Compact(numbers) {
		all = append(all, q.left[n-q.dropped])
	}
	return all
}

// wrongList tells of a list in which a contender was not, or was with another session.
func (s *sayings) wrongList(made *list, h *facts.Hold, there bool, session string) {
	said := made.said
	if !there {
		s.wrong(said, h.Lock, fmt.Sprintf("%v was told at %s that %s in the queue of lock %q, and %v was not among them, which stood there with token %s until %s",
			said, verdict.At(said.To), stand(made.n), h.Lock, witness.OfHold(h), verdict.Token(h.Token), verdict.At(h.End)))
		return
	}
	s.wrong(said, h.Lock, fmt.Sprintf("%v was told at %s that token %s in the queue of lock %q is of session %s, and it is of %s",
		said, verdict.At(said.To), verdict.Token(h.Token), h.Lock, session, h.Session))
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
	if s.t.Recipe(e.Lock).Exclusive() && !slices.IsSortedFunc(list, func(a, b histories.Participant) int { return a.Token.Compare(b.Token) }) {
		s.wrong(said, e.Lock, fmt.Sprintf("%v was told at %s of a queue of lock %q that is not in the order of its tokens", said, verdict.At(e.Time), e.Lock))
	}
	for _, gone := range q.leftOf(list) {
		// A writer's place may have a reader of the same owner behind it.
		if gone.at < e.Saying.Asked && !q.byHand {
			s.stale = append(s.stale, staleList{said, gone})
		}
	}
	q.lists.add(i, said, list)
}

// staleList is a list that had who had given the lock back before it was asked for.
type staleList struct {
	said verdict.Party
	gone leftQueue
}

// listedLate judges, at the end, the lists that had somebody in them who had left. Only
// then is it known of whom the session had not ended under the release: see LivedOn.
func (s *sayings) listedLate() {
	for _, l := range s.stale {
		if h := l.gone.hold; s.t.Sessions.LivedOn(h) {
			s.wrong(l.said, h.Lock, fmt.Sprintf("%v was told at %s that token %#x stood in the queue of lock %q, which %v had given back by %s",
				l.said, verdict.At(l.said.To), l.gone.zxid, h.Lock, witness.OfHold(h), verdict.At(l.gone.at)))
		}
	}
}
