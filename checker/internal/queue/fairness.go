package queue

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

// Contender is an acquire that had a place in the queue.
type Contender struct {
	Op    *facts.Op
	Place facts.Place   // its last place
	Enter time.Duration // it entered the queue in [Enter, Place.Time]
	// Stays is the time until which it certainly stood in the queue, once in.
	Stays   time.Duration
	Granted bool

	// The findings about it: it overtook another contender, its place was out of order, it was
	// granted the lock after waiting.
	overtook, entered, waited bool
}

// fairnessJudge judges that a lock is granted in the order of the places in its queue.
//
// Tokens order the places. A contender that was granted the lock stood in the queue until it
// was told so, at Op.Ret: had it been passed over before, it could not have been granted the
// lock later from the same place. A contender that gave up left at an unknown time after it
// knew its place. A contender whose session ended meanwhile may have left at any time. So B,
// with the later place, overtook A exactly when B's acquire returned before the time until
// which A certainly stood in the queue. Touching times are no order.
//
// A contender that lost its place and took another counts with the last one. Losing its place
// while the session lived is a violation by itself. An acquire that holds some locks while it waits
// for another one gives them back when a fault ends one of their leases, so it may lose places then.
type fairnessJudge struct {
	v                               *verdict.Verdict
	locks                           facts.PerLock[queueOf]
	unjudged                        int // places without tokens that would order them
	unsearched                      int // contenders for which Porcupine has no model
	placed, moved, waited, overtook int
	handedTooOften                  int
	longest                         time.Duration
}

// queueOf is the judge's record of the queue of one lock.
type queueOf struct {
	held   []*facts.Op  // acquires that were granted the lock and still hold it: see sessionEnded
	queue  []*Contender // the contenders that others are compared with, by place
	found  int
	search *queueSearch // nil: no search was needed
	turns  *turns       // nil: no ticket is on record

	handOvers handOvers
}

// NewFairness returns the judge of the order in which locks are granted.
func NewFairness(_ *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Expected = true
	return &fairnessJudge{v: v}
}

func (j *fairnessJudge) queue(lock *facts.LockInfo) *queueOf {
	return j.locks.Make(lock, func() *queueOf { return &queueOf{} })
}

func (j *fairnessJudge) Window(e *judge.Engines, t *facts.Trace) (kept int) {
	for _, o := range facts.Each(t, t.Ops) {
		if !o.Acquires() || !t.Settled(o) {
			continue
		}
		if o.OK() {
			j.longest = max(j.longest, o.Ret-o.Call)
		}
		if len(o.Places) == 0 || o.Beside != nil {
			continue
		}
		if !ordered(t, o) {
			j.keepTicket(t, o)
		}
		if q := j.queue(o.Info()); ordered(t, o) || len(o.Places) > 1 {
			q.held = append(q.held, o)
		}
	}
	oldest := t.OldestAcquires()
	for lock := range t.LocksThat(histories.Recipe.IsLock) {
		q := j.locks.Of(lock)
		switch {
		case q == nil && lock.Recipe == histories.Handoff:
			q = j.queue(lock)
		case q == nil: // none has reported a place
			continue
		}
		if e.Sweeps && q.turns != nil {
			j.judgeTurns(t, q.turns, oldest(lock))
		}
		before := oldest(lock)
		j.judgeHandOvers(t, q, lock, before)
		var placed []*Contender
		// Whether a session ended before the lock was granted is known when the hold is
		// over.
		q.held = slices.DeleteFunc(q.held, func(o *facts.Op) bool {
			if h := o.Hold; h != nil && h.Acquire == o && !t.Over(h) {
				before = min(before, o.Call)
				return false
			}
			if j.keepsPlace(t, o); ordered(t, o) {
				placed = append(placed, j.place(t, q, o))
			}
			return true
		})
		j.sweep(e, t, q)
		if e.Searches && t.Header.Promises.FIFO && lock.Recipe.Exclusive() {
			if q.search == nil && len(placed) > 0 {
				q.search = newQueueSearch()
			}
			if q.search != nil {
				q.search.window(&e.Caps, t, placed, before)
			}
		}
		q.forget(before)
		kept += q.kept()
	}
	return kept
}

// kept returns the number of things that the next window visits again.
func (q *queueOf) kept() int {
	n := len(q.held) + len(q.queue) + len(q.handOvers.places)
	if q.turns != nil {
		n += len(q.turns.recent)
	}
	if q.search != nil {
		n += len(q.search.queue)
	}
	return n
}

// keepsPlace judges the places that a settled acquire has lost.
func (j *fairnessJudge) keepsPlace(t *facts.Trace, o *facts.Op) {
	for i := 1; i < len(o.Places); i++ {
		a, b := o.Places[i-1], o.Places[i]
		if a.Token == b.Token && a.Sequence == b.Sequence {
			continue
		}
		j.moved++
		if a.Session == b.Session && a.Session != "" && !sessionEnded(t, a.Session, o) && !(o.Mixed && !t.CalmFor(o.Process, a.Time, b.Time)) {
			j.v.Violate(func() verdict.Witness { return lostPlace(t, o, a, b) })
		}
	}
}

// place puts a settled acquire into the queue.
func (j *fairnessJudge) place(t *facts.Trace, q *queueOf, o *facts.Op) *Contender {
	j.placed++
	if !o.Recipe().Exclusive() {
		j.unsearched++
	}
	k := contender(t, o)
	q.queue = append(q.queue, k)
	return k
}

func (j *fairnessJudge) sweep(e *judge.Engines, t *facts.Trace, q *queueOf) {
	facts.Sort(t, q.queue, byPlace)
	if e.Sweeps {
		sweepQueue(t, q.queue, func(a, b *Contender, entered bool) {
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
			j.v.Violate(func() verdict.Witness { return overtake(t, a, b, entered) })
		})
	}
	j.waited += behind(q.queue)
}

// forget keeps the contenders that may matter to one that asks for the lock at before or later:
// those that were told of their place, were granted the lock or were certainly in the queue
// since. A later contender with a place before theirs is out of order; the last past contender
// is kept to show that.
func (q *queueOf) forget(before time.Duration) {
	past := func(k *Contender) bool {
		until := max(k.Stays, k.Place.Time)
		if k.Granted {
			until = max(until, k.Op.Ret)
		}
		return until < before
	}
	var last *Contender
	for _, k := range q.queue {
		if past(k) {
			last = k
		}
	}
	q.queue = slices.DeleteFunc(q.queue, func(k *Contender) bool { return past(k) && k != last })
}

func (j *fairnessJudge) Conclude(e *judge.Engines, t *facts.Trace) {
	v := j.v
	v.Promised = t.Header.Promises.FIFO
	if v.Promised {
		for lock := range t.LocksThat(histories.Recipe.Exclusive) {
			q := j.locks.Of(lock)
			if q == nil {
				continue
			}
			var answer judge.Answer
			if q.search != nil {
				answer = q.search.Answer
			}
			e.Compare(t, v, lock.Lock, q.found > 0, answer)
		}
	}
	v.Count("contenders with a place", j.placed)
	v.Count("granted after waiting behind another", j.waited)
	v.Count("overtakes", j.overtook)
	v.Count("places lost and taken anew", j.moved)
	if handoffs := slices.Collect(t.LocksThat(facts.Is(histories.Handoff))); len(handoffs) > 0 {
		handed := 0
		for _, lock := range handoffs {
			handed += j.queue(lock).handOvers.handed
		}
		v.Count("hand-overs within a client", handed)
		v.Count("hand-overs beyond what is allowed", j.handedTooOften)
	}
	v.Figures = append(v.Figures, verdict.Figure{Name: "longest wait", Value: float64(j.longest) / 1e6, Unit: "ms"})
	switch {
	case v.Outcome == verdict.Unknown: // the engines disagree
	case j.placed == 0 && j.unjudged > 0:
		v.Outcome, v.Reason = verdict.NotJudged, words.Count(j.unjudged, "place")+" on record, without tokens to judge them by"
	case !e.Sweeps && j.unsearched > 0 && v.Violations == 0:
		v.Outcome, v.Reason = verdict.NotJudged, fmt.Sprintf("Porcupine has no model of the queues that %s stood in", words.Count(j.unsearched, "contender"))
	case j.waited == 0 && v.Violations == 0:
		v.Idle("no process was granted a lock after waiting behind another with a known place")
	default:
		v.Conclude(words.Count(j.placed, "contender")+", granted in the order of their places", words.Count(v.Violations, "contender")+" not served in the order of the queue")
	}
}

// ordered reports whether the places of o are those of the nodes that hold the lock, so that
// their tokens order them.
func ordered(t *facts.Trace, o *facts.Op) bool {
	r := o.Recipe()
	return r.Guards() && o.Places[0].Token != (histories.Token{})
}

// sessionEnded reports whether session, in which o contended, may have ended before o was
// answered, so that its place in the queue may have been gone.
func sessionEnded(t *facts.Trace, session string, o *facts.Op) bool {
	if len(t.Faults.RobbedIn(o.Process, o.Session, o.Call, o.Ret)) > 0 {
		return true
	}
	at, ok := t.Sessions.Expired[session]
	if !ok || session == "" {
		return false
	}
	if h := o.Hold; h != nil && h.Acquire == o && h.Why == facts.ByLoss && at > o.Ret {
		// The observer sees the end late. The end may have come before the answer, unless
		// it was forced after it.
		return at <= h.End && len(t.Faults.RobbedIn(o.Process, o.Session, o.Ret, at)) == 0
	}
	return at <= o.Ret
}

func contender(t *facts.Trace, o *facts.Op) *Contender {
	// A place reported twice is one place; it was taken before its first report.
	i := len(o.Places) - 1
	for i > 0 && o.Places[i-1].Token == o.Places[i].Token && o.Places[i-1].Sequence == o.Places[i].Sequence {
		i--
	}
	q := &Contender{Op: o, Place: o.Places[i], Enter: o.Call, Granted: o.OK()}
	if i > 0 {
		q.Enter = o.Places[i-1].Time
	}
	session := q.Place.Session
	if session == "" {
		session = o.Session
	}
	stays, granted := q.Place.Time, o.OK() && (o.Token == (histories.Token{}) || o.Token == q.Place.Token)
	if granted {
		stays = o.Ret
	}
	switch {
	case sessionEnded(t, session, o), !granted && toldLate(t, q), paused(t, o, q.Enter, q.Place.Time):
		q.Stays = q.Enter
	case paused(t, o, q.Place.Time, stays):
		q.Stays = q.Place.Time
	default:
		q.Stays = stays
	}
	return q
}

// toldLate reports whether a place was reported so long after it was asked for that the session
// may have ended before: the client may have had no link meanwhile, and the observer of
// sessions may have seen the end even later.
func toldLate(t *facts.Trace, q *Contender) bool {
	timeout := t.Header.SessionTimeout
	return timeout > 0 && q.Place.Time-q.Enter > timeout/2
}

// paused reports whether the process of o was paused in a time. Its report at the end of that
// time is then from before the pause: its session may have ended since, and the observer of
// sessions may have seen that even later.
func paused(t *facts.Trace, o *facts.Op, from, to time.Duration) bool {
	return len(t.Faults.PausedIn(o.Process, from, to)) > 0
}

// QueueOf returns the contenders of one lock, in the order of their places.
func QueueOf(t *facts.Trace, lock string) []*Contender {
	var queue []*Contender
	for _, o := range facts.Each(t, t.Ops) {
		if o.Lock == lock && o.Acquires() && len(o.Places) > 0 && ordered(t, o) {
			queue = append(queue, contender(t, o))
		}
	}
	slices.SortStableFunc(queue, byPlace)
	return queue
}

func byPlace(a, b *Contender) int {
	return a.Place.Token.Compare(b.Place.Token)
}
