package barrier

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
)

// enteredEarly and the following functions return the witnesses of violations of a double
// barrier.
func enteredEarly(t *facts.Trace, e *facts.Op, r, before *round, last *stay, over time.Duration) verdict.Witness {
	p := judge.OpParty(e)
	size := t.Header.Locks[e.Lock].Size
	did := fmt.Sprintf("%v entered round %d of barrier %q at %s", p, r.generation, e.Lock, verdict.At(e.Ret))
	inTime := begins(t, r, size, 0) <= e.Ret // if there were no earlier rounds
	switch {
	case inTime && over > e.Ret && last == nil:
		w := judge.NewWitness(t, e.Lock, e.Ret, over, p)
		w.What = fmt.Sprintf("%s, before round %d had begun", did, before.generation)
		return w
	case inTime && over > e.Ret:
		q := judge.OpParty(last.enter)
		w := judge.NewWitness(t, e.Lock, e.Ret, over, q, p)
		w.What = fmt.Sprintf("%s, while %v was inside round %d%s", did, q, before.generation, stayed(t, last))
		return w
	}
	w := judge.NewWitness(t, e.Lock, e.Call, e.Ret, p)
	there := newCrowd(t, r)
	most := there.at(0)
	for _, o := range r.enters { // by invocation
		if o.Call <= e.Ret {
			most = max(most, there.at(o.Call))
		}
	}
	w.What = fmt.Sprintf("%s, when %d of its %d members had come", did, most, size)
	return w
}

func enteredWithout(t *facts.Trace, e *facts.Op, counted int, gone []*facts.Op) verdict.Witness {
	p := judge.OpParty(e)
	var names []string
	from := e.Ret
	for _, o := range gone {
		names = append(names, fmt.Sprintf("%v had given up by transaction %#x", judge.OpParty(o), o.Token.Zxid))
		from = min(from, o.Call)
	}
	w := judge.NewWitness(t, e.Lock, from, e.Ret, p, judge.OpParty(gone[0]))
	w.What = fmt.Sprintf("%v entered round %d of barrier %q at %s, which transaction %#x began, with %d of its %d members: %s",
		p, e.Generation, e.Lock, verdict.At(e.Ret), e.Token.Zxid, counted, t.Header.Locks[e.Lock].Size, strings.Join(names, ", "))
	return w
}

func enteredLate(t *facts.Trace, e *facts.Op, later int) verdict.Witness {
	p := judge.OpParty(e)
	w := judge.NewWitness(t, e.Lock, e.Call, e.Ret, p)
	w.What = fmt.Sprintf("%v came to round %d of barrier %q at %s and entered, although round %d had been entered before", p, e.Generation, e.Lock, verdict.At(e.Call), later)
	return w
}

func leftEarly(t *facts.Trace, l *facts.Op, s *stay) verdict.Witness {
	p, q := judge.OpParty(l), judge.OpParty(s.enter)
	generation := l.Generation
	w := judge.NewWitness(t, l.Lock, l.Ret, s.until, q, p)
	if s.enter.Call > l.Ret {
		w.What = fmt.Sprintf("%v came to round %d of barrier %q at %s and entered, although the round was over: %v had left it at %s", q, generation, l.Lock, verdict.At(s.enter.Call), p, verdict.At(l.Ret))
		return w
	}
	w.What = fmt.Sprintf("%v left round %d of barrier %q at %s, while %v was inside%s", p, generation, l.Lock, verdict.At(l.Ret), q, stayed(t, s))
	return w
}

// stayed returns the time for which a member was inside, as the end of a sentence.
func stayed(t *facts.Trace, s *stay) string {
	if s.until == facts.Forever {
		return " and did not leave"
	}
	return ", until " + verdict.At(s.until)
}
