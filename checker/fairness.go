package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// contender is an acquire that had a place in the queue.
type contender struct {
	op    *op
	place place         // the last that it had
	enter time.Duration // it entered the queue in [enter, place.time]
	// stays is the time until which it certainly stood in the queue, once in.
	stays   time.Duration
	granted bool

	// What has been found out about it: that it overtook another, that its
	// place was out of order, that it was granted the lock after waiting.
	overtook, entered, waited bool
}

// fairnessJudge: a lock is granted in the order of the places in its queue.
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
type fairnessJudge struct {
	v                               *Verdict
	locks                           map[string]*queueOf
	unjudged                        int // places that say nothing of their order
	unsearched                      int // that Porcupine has no model for
	placed, moved, waited, overtook int
	handedTooOften                  int
	longest                         time.Duration
}

// queueOf is what the judge knows of the queue of one lock.
type queueOf struct {
	held    []*op        // were granted the lock and hold it still: see sessionEnded
	queue   []*contender // that others are held against, by place
	found   int
	pending []*contender // of this window
	search  queueSearch
	turns   turns

	handOvers handOvers
}

func newFairnessJudge(_ *trace, v *Verdict) *fairnessJudge {
	v.Expected = true
	return &fairnessJudge{v: v, locks: map[string]*queueOf{}}
}

func (j *fairnessJudge) of(lock string) *queueOf {
	q := j.locks[lock]
	if q == nil {
		q = &queueOf{search: newQueueSearch()}
		j.locks[lock] = q
	}
	return q
}

func (j *fairnessJudge) window(e *engines, t *trace) {
	for _, o := range t.ops {
		if !o.acquires() || !t.settled(o) {
			continue
		}
		if o.ok() {
			j.longest = max(j.longest, o.ret-o.call)
		}
		if len(o.places) == 0 || o.beside != nil {
			continue
		}
		if !t.ordered(o) {
			j.turn(t, o)
			continue
		}
		q := j.of(o.lock)
		q.held = append(q.held, o)
	}
	oldest := t.oldestAcquires()
	for _, lock := range t.locksThat(histories.Recipe.IsLock) {
		q := j.of(lock)
		if e.sweeps {
			j.judgeTurns(t, q, oldest(lock))
		}
		before := oldest(lock)
		j.judgeHandOvers(t, q, lock, before)
		// Whether a session ended before the lock was granted is known when the
		// hold is over.
		q.held = slices.DeleteFunc(q.held, func(o *op) bool {
			if h := o.hold; h != nil && h.acquire == o && !t.over(h) {
				before = min(before, o.call)
				return false
			}
			j.place(t, q, o)
			return true
		})
		j.sweep(e, t, q)
		if e.searches && t.header.Promises.FIFO && t.recipe(lock).Exclusive() {
			q.search.window(&e.caps, t, q.pending, before)
		}
		q.pending = nil
		q.forget(before)
	}
}

// place puts an acquire of which all is known into the queue.
func (j *fairnessJudge) place(t *trace, q *queueOf, o *op) {
	j.placed++
	if !o.recipe().Exclusive() {
		j.unsearched++
	}
	for i := 1; i < len(o.places); i++ {
		a, b := o.places[i-1], o.places[i]
		if a.token == b.token {
			continue
		}
		j.moved++
		if a.session == b.session && a.session != "" && !t.sessionEnded(a.session, o) {
			j.v.violate(func() Witness { return t.lostPlace(o, a, b) })
		}
	}
	k := t.contender(o)
	q.queue, q.pending = append(q.queue, k), append(q.pending, k)
}

func (j *fairnessJudge) sweep(e *engines, t *trace, q *queueOf) {
	slices.SortStableFunc(q.queue, byPlace)
	if e.sweeps {
		sweepQueue(q.queue, func(a, b *contender, entered bool) {
			told := &b.overtook
			if entered {
				told = &b.entered
			}
			if *told {
				return
			}
			*told = true
			q.found++
			if !entered {
				j.overtook++
			}
			j.v.violate(func() Witness { return t.overtake(a, b, entered) })
		})
	}
	j.waited += behind(q.queue)
}

// forget keeps the contenders that may matter to one that has asked for the lock
// at an instant, or after it: those that were told of their place, granted the
// lock or certainly in the queue since. If one to come has a place before the
// others, it is out of order; the last of those that are
// past is there to show it.
func (q *queueOf) forget(before time.Duration) {
	past := func(k *contender) bool {
		until := max(k.stays, k.place.time)
		if k.granted {
			until = max(until, k.op.ret)
		}
		return until < before
	}
	var last *contender
	for _, k := range q.queue {
		if past(k) {
			last = k
		}
	}
	q.queue = slices.DeleteFunc(q.queue, func(k *contender) bool { return past(k) && k != last })
}

func (j *fairnessJudge) conclude(e *engines, t *trace) {
	v := j.v
	v.Promised = t.header.Promises.FIFO
	if v.Promised {
		for _, lock := range t.locksThat(histories.Recipe.Exclusive) {
			q := j.of(lock)
			e.compare(t, v, lock, q.found > 0, q.search.answer)
		}
	}
	v.count("contenders with a place", j.placed)
	v.count("granted after waiting behind another", j.waited)
	v.count("overtakes", j.overtook)
	v.count("places lost and taken anew", j.moved)
	if handoffs := t.locksThat(is(histories.Handoff)); len(handoffs) > 0 {
		handed := 0
		for _, lock := range handoffs {
			handed += j.of(lock).handOvers.handed
		}
		v.count("hand-overs within a client", handed)
		v.count("hand-overs beyond what is allowed", j.handedTooOften)
	}
	v.Figures = append(v.Figures, Figure{"longest wait", float64(j.longest) / 1e6, "ms"})
	switch {
	case v.Outcome == Unknown: // the engines disagree
	case j.placed == 0 && j.unjudged > 0:
		v.Outcome, v.Reason = NotJudged, words.Count(j.unjudged, "place")+" on record, without tokens to judge them by"
	case !e.sweeps && j.unsearched > 0 && v.Violations == 0:
		v.Outcome, v.Reason = NotJudged, fmt.Sprintf("Porcupine has no model of the queues that %s stood in", words.Count(j.unsearched, "contender"))
	case j.waited == 0 && v.Violations == 0:
		v.idle("nobody was granted a lock after waiting behind another with a known place")
	default:
		v.conclude(words.Count(j.placed, "contender")+", granted in the order of their places", words.Count(v.Violations, "contender")+" not served in the order of the queue")
	}
}

// ordered reports whether the places of o are those of the nodes that hold the
// lock, so that their tokens order them.
func (t *trace) ordered(o *op) bool {
	r := o.recipe()
	return (r.Exclusive() || r == histories.ReadWrite) && o.places[0].token != (histories.Token{})
}

// sessionEnded reports whether session, under which o contended, may have ended
// before o was answered, so that its place in the queue may have been gone.
func (t *trace) sessionEnded(session string, o *op) bool {
	if len(t.faults.robbedIn(o.process, o.call, o.ret)) > 0 {
		return true
	}
	at, ok := t.sessions.expired[session]
	if !ok || session == "" {
		return false
	}
	if h := o.hold; h != nil && h.acquire == o && h.why == byLoss && at > o.ret {
		// The observer sees the end late. Unless it was forced after o was
		// answered, it may have come before.
		return at <= h.end && len(t.faults.robbedIn(o.process, o.ret, at)) == 0
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

// queueOf returns the contenders of one lock, in the order of their places.
func (t *trace) queueOf(lock string) []*contender {
	var queue []*contender
	for _, o := range t.ops {
		if o.lock == lock && o.acquires() && len(o.places) > 0 && t.ordered(o) {
			queue = append(queue, t.contender(o))
		}
	}
	slices.SortStableFunc(queue, byPlace)
	return queue
}

func byPlace(a, b *contender) int {
	return a.place.token.Compare(b.place.token)
}

// sweepQueue reports each contender that was granted the lock while another,
// ahead of it, certainly stood in the queue, with the one that stood there
// longest; and each that took a place before one that was told its own place
// before (entered): then the places themselves are not in the order of time.
// The queue is sorted by place.
//
// Readers of a read/write lock wait for writers alone.
func sweepQueue(queue []*contender, report func(ahead, behind *contender, entered bool)) {
	// Those ahead with the greatest stays, among writers and among all, and
	// enter.
	var writer, stayed, entered *contender
	for _, b := range queue {
		inTheWay := stayed
		if b.reads() {
			inTheWay = writer
		}
		if inTheWay != nil && b.granted && b.op.ret < inTheWay.stays {
			report(inTheWay, b, false)
		}
		if entered != nil && b.place.time < entered.enter {
			report(entered, b, true)
		}
		if stayed == nil || b.stays > stayed.stays {
			stayed = b
		}
		if !b.reads() && (writer == nil || b.stays > writer.stays) {
			writer = b
		}
		if entered == nil || b.enter > entered.enter {
			entered = b
		}
	}
}

func (k *contender) reads() bool { return k.op.reads() }

// behind counts the contenders that were granted the lock and had somebody
// certainly ahead of them when they knew their place, each once: only they put
// the order to the test.
func behind(queue []*contender) int {
	n, ahead, writers := 0, time.Duration(-1), time.Duration(-1)
	for _, q := range queue {
		if q.granted && !q.waited && (writers > q.place.time || !q.reads() && ahead > q.place.time) {
			q.waited = true
			n++
		}
		ahead = max(ahead, q.stays)
		if !q.reads() {
			writers = max(writers, q.stays)
		}
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
