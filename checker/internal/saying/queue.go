package saying

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// queueSaid is the record of a lock's queue with which lists of it are compared.
type queueSaid struct {
	lists   lists
	left    []leftQueue     // released, in that order
	dropped int             // the number of those dropped before
	leftBy  map[int64][]int // their numbers, counted from the first that ever left, by zxid
	byHand  bool            // a place may serve several holds: its release does not remove it
}

type leftQueue struct {
	zxid int64
	at   time.Duration
	hold *facts.Hold
}

// remembered is for how long departures from a queue, and notifications of observers, are
// remembered.
const remembered = 10 * time.Second

func (s *sayings) line(lock string) *queueSaid {
	q := s.lines[lock]
	if q == nil {
		q = &queueSaid{}
		s.lines[lock] = q
	}
	return q
}

// Placed records that an acquire has reported its place.
func (s *sayings) Placed(o *facts.Op) {
	if q := s.line(o.Lock); !o.Recipe().HasPermits() && o.Recipe() != histories.NonReentrant && len(o.Places) == 1 {
		q.lists.stands(o)
	}
}

// left records that a hold has been released: its node is gone, and existed until then.
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

// forget drops the first n departures.
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

// leftOf returns the contenders of a list that have left, in the order of their departures.
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

// wrongList reports a list that lacks a contender, or shows it with another session.
func (s *sayings) wrongList(made *list, h *facts.Hold, there bool, session string) {
	said := made.said
	if !there {
		s.wrong(said, h.Lock, fmt.Sprintf("%v was told at %s that %s in the queue of lock %q, and %v was not among them, which stood there with token %s until %s",
			said, verdict.At(said.To), stand(made.n), h.Lock, judge.HoldParty(h), verdict.Token(h.Token), verdict.At(h.End)))
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

// staleList is a list with a contender that had released the lock before the list was asked
// for.
type staleList struct {
	said verdict.Party
	gone leftQueue
}

// listedLate judges, at the end, the lists with a contender that had left. Only then is it
// known whether its session outlived the release: see LivedOn.
func (s *sayings) listedLate() {
	for _, l := range s.stale {
		if h := l.gone.hold; s.t.Sessions.LivedOn(h) {
			s.wrong(l.said, h.Lock, fmt.Sprintf("%v was told at %s that token %#x stood in the queue of lock %q, which %v had given back by %s",
				l.said, verdict.At(l.said.To), l.gone.zxid, h.Lock, judge.HoldParty(h), verdict.At(l.gone.at)))
		}
	}
}
