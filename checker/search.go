package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/zkverify/zkverify/internal/words"
)

// searchCaps are the caps under which Porcupine searches.
type searchCaps struct {
	ctx    context.Context
	left   time.Duration // for all searches to come
	memory int64         // bytes that one search may need
	size   int           // operations in a segment
}

// answer is that of a search. The zero answer is that an order fits.
type answer struct {
	illegal  bool          // no order fits
	why      string        // it is not decided; "" if it is
	n        int           // operations of what is illegal
	from, to time.Duration // when that was
}

// undecided reports whether nobody knows whether an order fits.
func (a answer) undecided() bool { return a.why != "" }

// add takes the answer for another part of the history in.
func (a *answer) add(b answer) {
	if !a.illegal && (b.illegal || b.undecided()) {
		*a = b
	}
}

// tooLong reports whether a search of n operations would need more memory than it may.
// Porcupine keeps a bit per operation for each operation that it linearizes, so n²/8
// bytes, and has no cap of its own.
func (s *searchCaps) tooLong(n int) bool { return int64(n)*int64(n)/8 > s.memory }

func needs(n int) answer {
	return answer{why: fmt.Sprintf("%s in one piece would need %d MB", words.Count(n, "operation"), int64(n)*int64(n)/8>>20)}
}

// searchOf searches operations for an order that the model allows, unless that would
// exceed a cap.
func searchOf[S, I any](s *searchCaps, m model[S, I], ops []operation[I]) answer {
	switch {
	case s.ctx.Err() != nil:
		return answer{why: "it was cancelled"}
	case s.left <= 0:
		return answer{why: "its time was up"}
	case s.tooLong(len(ops)):
		return needs(len(ops))
	}
	all := make([]porcupine.Operation, len(ops))
	for i, o := range ops {
		all[i] = porcupine.Operation{ClientId: i, Input: o.input, Call: o.call, Return: o.ret}
	}
	begun := time.Now()
	r := porcupine.CheckOperationsTimeout(m.porcupine(), all, s.left)
	s.left -= time.Since(begun)
	switch r {
	case porcupine.Unknown:
		return answer{why: "its time was up"}
	case porcupine.Illegal:
		a := answer{illegal: true, n: len(ops), from: forever}
		for _, o := range ops {
			a.from, a.to = min(a.from, time.Duration(o.call/2)), max(a.to, time.Duration(o.call/2))
			if o.ret != never {
				a.to = max(a.to, time.Duration(o.ret/2))
			}
		}
		return a
	}
	return answer{}
}
