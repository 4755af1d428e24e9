package queue

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// sweepQueue reports each contender that was granted the lock while another, ahead of it,
// certainly stood in the queue, together with the one that stood there longest. It also reports
// each contender that took a place before that of one which was told its place earlier
// (entered): then the places themselves are not in the order of time. The queue is sorted by
// place.
//
// Readers of a read/write lock wait only for writers.
func sweepQueue(t *facts.Trace, queue []*Contender, report func(ahead, behind *Contender, entered bool)) {
	// The contenders ahead with the greatest Stays, among writers and among all, and with the
	// greatest Enter.
	var writer, stayed, entered *Contender
	for _, b := range facts.Each(t, queue) {
		inTheWay := stayed
		if b.reads() {
			inTheWay = writer
		}
		if inTheWay != nil && b.Granted && b.Op.Ret < inTheWay.Stays {
			report(inTheWay, b, false)
		}
		if entered != nil && b.Place.Time < entered.Enter {
			report(entered, b, true)
		}
		if stayed == nil || b.Stays > stayed.Stays {
			stayed = b
		}
		if !b.reads() && (writer == nil || b.Stays > writer.Stays) {
			writer = b
		}
		if entered == nil || b.Enter > entered.Enter {
			entered = b
		}
	}
}

func (k *Contender) reads() bool { return k.Op.Reads() }

// behind counts the contenders that were granted the lock and had another contender certainly
// ahead of them when they knew their place, each once: only they put the order to the test.
func behind(queue []*Contender) int {
	n, ahead, writers := 0, time.Duration(-1), time.Duration(-1)
	for _, q := range queue {
		if q.Granted && !q.waited && (writers > q.Place.Time || !q.reads() && ahead > q.Place.Time) {
			q.waited = true
			n++
		}
		ahead = max(ahead, q.Stays)
		if !q.reads() {
			writers = max(writers, q.Stays)
		}
	}
	return n
}

func overtake(t *facts.Trace, a, b *Contender, entered bool) verdict.Witness {
	p, q := judge.OpParty(a.Op), judge.OpParty(b.Op)
	w := judge.NewWitness(t, a.Op.Lock, b.Op.Call, min(max(a.Op.Ret, b.Op.Ret), t.End), p, q)
	if entered {
		w.What = fmt.Sprintf("%v was behind %v in the queue of lock %q (places %s, %s), but knew its place at %s, before the other asked for the lock at %s",
			q, p, w.Lock, verdict.Token(b.Place.Token), verdict.Token(a.Place.Token), verdict.At(b.Place.Time), verdict.At(a.Enter))
		return w
	}
	w.What = fmt.Sprintf("%v was granted lock %q at %s while %v, ahead of it in the queue (places %s, %s), waited until %s",
		q, w.Lock, verdict.At(b.Op.Ret), p, verdict.Token(b.Place.Token), verdict.Token(a.Place.Token), verdict.At(a.Stays))
	return w
}

func lostPlace(t *facts.Trace, o *facts.Op, a, b facts.Place) verdict.Witness {
	p := judge.OpParty(o)
	w := judge.NewWitness(t, o.Lock, a.Time, b.Time, p)
	w.What = fmt.Sprintf("%v had place %s in the queue of lock %q at %s and took another, %s, at %s, though its session lived",
		p, nameOf(a), o.Lock, verdict.At(a.Time), nameOf(b), verdict.At(b.Time))
	return w
}

// nameOf returns a place in words: its token, or its number if it has none.
func nameOf(p facts.Place) string {
	if p.Token == (histories.Token{}) {
		return fmt.Sprint(p.Sequence)
	}
	return verdict.Token(p.Token)
}
