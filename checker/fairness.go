package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/zkverify/zkverify/histories"
)

// contender is an acquire that had a place in the queue.
type contender struct {
	op    *op
	place place         // the last that it had
	enter time.Duration // it entered the queue in [enter, place.time]
	// stays is the time until which it certainly stood in the queue, once in.
	stays   time.Duration
	granted bool
}

// fairness: a lock is granted in the order of the places in its queue.
//
// What is definite? Tokens order the places. A contender that was granted the
// lock stood in the queue until it was told so, at op.ret: had it been passed
// over before, it could not have been granted the lock later from the same
// place. One that gave up left at an unknown time after it knew its place. One
// whose session ended meanwhile may have left at any time. So B, with the later
// place, overtook A exactly when B's acquire returned before the time until
// which A certainly stood there. Touching times are no order.
//
// A contender that lost its place and took another counts with the last one;
// losing it while the session lived is a violation of its own.
func (c *check) fairness(t *trace) Verdict {
	v := Verdict{Guarantee: Fairness, Promised: t.h.Header.Promises.FIFO, Expected: true}
	queues := map[string][]*contender{}
	placed, unjudged, moved, unsure, waited := 0, 0, 0, 0, 0
	var longest time.Duration
	for _, o := range t.ops {
		if !o.acquires() {
			continue
		}
		if len(o.places) > 0 && !t.ordered(o) {
			unjudged++
			continue
		}
		if o.ok() {
			longest = max(longest, o.ret-o.call)
		}
		if len(o.places) == 0 {
			continue
		}
		placed++
		q := t.contender(o)
		for i := 1; i < len(o.places); i++ {
			a, b := o.places[i-1], o.places[i]
			if a.token == b.token {
				continue
			}
			moved++
			if a.session == b.session && a.session != "" && !t.sessionEnded(a.session, o) {
				v.violate(func() Witness { return t.lostPlace(o, a, b) })
			}
		}
		queues[o.lock] = append(queues[o.lock], q)
	}
	overtakes := 0
	for _, lock := range t.exclusive() {
		queue := queues[lock]
		slices.SortStableFunc(queue, byPlace)
		found := 0
		sweepQueue(queue, func(a, b *contender, entered bool) {
			found++
			if !entered {
				overtakes++
			}
			v.violate(func() Witness { return t.overtake(a, b, entered) })
		})
		waited += behind(queue)
		if !v.Promised {
			continue
		}
		switch a := c.search.queue(queue); {
		case a.result == porcupine.Unknown:
			unsure++
			c.undecided(Fairness, lock, a.why)
		case (a.result == porcupine.Illegal) != (found > 0):
			c.disagree(&v, lock, found > 0)
		}
	}
	v.count("contenders with a place", placed)
	v.count("granted after waiting behind another", waited)
	v.count("overtakes", overtakes)
	v.count("places lost and taken anew", moved)
	v.count("locks that Porcupine left undecided", unsure)
	v.Figures = append(v.Figures, Figure{"longest wait", float64(longest) / 1e6, "ms"})
	switch {
	case v.Outcome == Unknown: // the engines disagree
	case placed == 0 && unjudged > 0:
		v.Outcome, v.Reason = NotJudged, plural(unjudged, "place")+" on record, which this checker cannot judge"
	case waited == 0 && v.Violations == 0:
		v.idle("nobody was granted a lock after waiting behind another with a known place")
	default:
		v.conclude(plural(placed, "contender")+", granted in the order of their places", plural(v.Violations, "contender")+" not served in the order of the queue")
	}
	return v
}

// ordered reports whether o's places are in an order that this checker can judge:
// that of one holder after the other, by tokens.
func (t *trace) ordered(o *op) bool {
	return t.recipe(o.lock).Exclusive() && o.places[0].token != (histories.Token{})
}

// sessionEnded reports whether session, under which o contended, may have ended
// before o was answered, so that its place in the queue may have been gone.
func (t *trace) sessionEnded(session string, o *op) bool {
	if len(t.forcedIn(o.process, o.call, o.ret)) > 0 {
		return true
	}
	at, ok := t.expired[session]
	if !ok || session == "" {
		return false
	}
	if h := o.hold; h != nil && h.acquire == o && h.why == byLoss && at > o.ret {
		// The observer sees the end late. Unless it was forced after o was
		// answered, it may have come before.
		return at <= h.end && len(t.forcedIn(o.process, o.ret, at)) == 0
	}
	return at <= o.ret
}

func (t *trace) contender(o *op) *contender {
	// A place told twice is one place; it was taken before it was first told.
	i := len(o.places) - 1
	for i > 0 && o.places[i-1].token == o.places[i].token {
		i--
	}
	q := &contender{op: o, place: o.places[i], enter: o.call, granted: o.ok()}
	if i > 0 {
		q.enter = o.places[i-1].time
	}
	session := q.place.session
	if session == "" {
		session = o.session
	}
	switch {
	case t.sessionEnded(session, o):
		q.stays = q.enter
	case o.ok() && (o.token == (histories.Token{}) || o.token == q.place.token):
		q.stays = o.ret
	default:
		q.stays = q.place.time
	}
	return q
}

func byPlace(a, b *contender) int {
	return cmp.Or(cmp.Compare(a.place.token.Zxid, b.place.token.Zxid), cmp.Compare(a.place.token.Sub, b.place.token.Sub))
}

// sweepQueue reports each contender that was granted the lock while another,
// ahead of it, certainly stood in the queue, with the one that stood there
// longest; and each that took a place before one that was told its own place
// before (entered): then the places themselves are not in the order of time.
// The queue is sorted by place.
func sweepQueue(queue []*contender, report func(ahead, behind *contender, entered bool)) {
	var stayed, entered *contender // those ahead with the greatest stays and enter
	for _, b := range queue {
		if stayed != nil && b.granted && b.op.ret < stayed.stays {
			report(stayed, b, false)
		}
		if entered != nil && b.place.time < entered.enter {
			report(entered, b, true)
		}
		if stayed == nil || b.stays > stayed.stays {
			stayed = b
		}
		if entered == nil || b.enter > entered.enter {
			entered = b
		}
	}
}

// behind counts the contenders that were granted the lock and had somebody
// certainly ahead of them when they knew their place: only they put the order
// to the test.
func behind(queue []*contender) int {
	n, ahead := 0, time.Duration(-1)
	for _, q := range queue {
		if q.granted && ahead > q.place.time {
			n++
		}
		ahead = max(ahead, q.stays)
	}
	return n
}

func (t *trace) overtake(a, b *contender, entered bool) Witness {
	p, q := a.op.party(), b.op.party()
	w := t.newWitness(a.op.lock, b.op.call, min(max(a.op.ret, b.op.ret), t.end), p, q)
	if entered {
		w.What = fmt.Sprintf("%v was behind %v in the queue of lock %q (places %s, %s), but knew its place at %s, before the other asked for the lock at %s",
			q, p, w.Lock, token(b.place.token), token(a.place.token), at(b.place.time), at(a.enter))
		return w
	}
	w.What = fmt.Sprintf("%v was granted lock %q at %s while %v, ahead of it in the queue (places %s, %s), waited until %s",
		q, w.Lock, at(b.op.ret), p, token(b.place.token), token(a.place.token), at(a.stays))
	return w
}

func (t *trace) lostPlace(o *op, a, b place) Witness {
	p := o.party()
	w := t.newWitness(o.lock, a.time, b.time, p)
	w.What = fmt.Sprintf("%v had place %s in the queue of lock %q at %s and took another, %s, at %s, though its session lived",
		p, token(a.token), o.lock, at(a.time), token(b.token), at(b.time))
	return w
}
