package holding

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// sizeOrder judges the grants of one semaphore by transactions: no grant has more permits than
// the size at its transaction, however many are free. By time alone the grant could have come
// before the size dropped.
//
// A target that reports which transaction changed the size promises to grant by the size in
// force at the transaction of the grant, which is the token. The size in force there is that of
// the last change before it. A change whose transaction is not known may have set it too, if it
// was called before the grant returned and had not returned when the last change was called.
// The grant is a violation if all these sizes are too small. An acquire of more permits than
// the first size is not judged before a change is known.
//
// A grant is judged when no open acquire or change was called before it returned. The judge
// keeps the changes that can be the last one before a future grant, or come after that.
type sizeOrder struct {
	grants  []*facts.Op  // not judged yet
	known   []SizeChange // whose transactions are known, in their order
	unknown []SizeChange // the others, by call
	// largest[i] is the largest of the first i+1 of unknown that has not returned.
	largest []SizeChange
}

// window takes in the grants and changes that were settled in a window. pending is the earliest
// call of the acquires and changes that are open.
func (s *sizeOrder) window(grants []*facts.Op, changes []SizeChange, pending time.Duration, report func(*facts.Op, SizeChange)) {
	s.grants = append(s.grants, grants...)
	s.take(changes)
	s.grants = slices.DeleteFunc(s.grants, func(g *facts.Op) bool {
		if g.Ret >= pending {
			return false
		}
		if most, ok := s.mostFor(g); ok && most.Size < g.Permits {
			report(g, most)
		}
		return true
	})
	s.forget(pending)
}

// take adds changes that were settled.
func (s *sizeOrder) take(changes []SizeChange) {
	for _, c := range changes {
		if c.by != 0 {
			s.known = append(s.known, c)
		} else {
			s.unknown = append(s.unknown, c)
		}
	}
	slices.SortStableFunc(s.known, func(a, b SizeChange) int { return cmp.Compare(a.by, b.by) })
	slices.SortStableFunc(s.unknown, func(a, b SizeChange) int { return cmp.Compare(a.Call, b.Call) })
	s.largest = s.largest[:0]
	var most SizeChange
	for _, c := range s.unknown {
		if c.Ret == facts.Forever && c.Size > most.Size {
			most = c
		}
		s.largest = append(s.largest, most)
	}
}

// mostFor returns the largest size that can have been in force at a grant.
func (s *sizeOrder) mostFor(g *facts.Op) (most SizeChange, ok bool) {
	i, _ := slices.BinarySearchFunc(s.known, g.Token.Zxid, func(c SizeChange, zxid int64) int { return cmp.Compare(c.by, zxid) })
	for i--; i >= 0 && s.known[i].Call > g.Ret; i-- {
		// It was called after the grant returned, but took effect before it: one is wrong.
	}
	if i < 0 || s.known[i].by < 0 {
		return SizeChange{}, false
	}
	last := s.known[i]
	for i--; i >= 0 && s.known[i].by == last.by; i-- {
		if s.known[i].Call <= g.Ret {
			last = s.known[i]
		}
	}
	n, _ := slices.BinarySearchFunc(s.unknown, g.Ret, func(c SizeChange, ret time.Duration) int {
		if c.Call <= ret {
			return -1
		}
		return 1
	})
	most = last
	if n > 0 && s.largest[n-1].Size > most.Size {
		most = s.largest[n-1]
	}
	for _, c := range slices.Backward(s.unknown[:n]) {
		if c.Ret != facts.Forever && c.Ret >= last.Call && c.Size > most.Size {
			most = c
		}
	}
	return most, true
}

// forget drops the changes that can affect no future grant.
func (s *sizeOrder) forget(pending time.Duration) {
	asked := pending
	for _, g := range s.grants {
		asked = min(asked, g.Call)
	}
	firm := int64(0) // the last change before any of these grants
	for _, c := range s.known {
		if c.Ret < asked {
			firm = max(firm, c.by)
		}
	}
	s.known = slices.DeleteFunc(s.known, func(c SizeChange) bool { return c.by < firm })
	first := pending // the earliest call of a change that can be the last one
	for _, c := range s.known {
		first = min(first, c.Call)
	}
	s.unknown = slices.DeleteFunc(s.unknown, func(c SizeChange) bool { return c.Ret < first })
}

// grantsOf returns the grants with a token that were settled in the window, by lock.
func grantsOf(t *facts.Trace) map[*facts.LockInfo][]*facts.Op {
	grants := map[*facts.LockInfo][]*facts.Op{}
	for _, o := range facts.Each(t, t.Ops) {
		if o.Acquires() && o.OK() && o.Recipe().HasPermits() && o.Token != (histories.Token{}) {
			grants[o.Info()] = append(grants[o.Info()], o)
		}
	}
	return grants
}

// beyondSize returns the witness of a grant of more permits than the size.
func beyondSize(t *facts.Trace, g *facts.Op, most SizeChange) verdict.Witness {
	p := judge.OpParty(g)
	w := judge.NewWitness(t, g.Lock, g.Call, g.Ret, p)
	w.What = fmt.Sprintf("%v was granted %s of semaphore %q at %s, by transaction %#x, when there were %d at most",
		p, words.Count(g.Permits, "permit"), w.Lock, verdict.At(g.Ret), g.Token.Zxid, most.Size)
	if most.by != 0 {
		w.What += fmt.Sprintf(", by transaction %#x", most.by)
	}
	return w
}
