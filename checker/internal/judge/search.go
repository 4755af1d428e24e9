package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/zkverify/zkverify/internal/words"
)

// Caps are the caps under which Porcupine searches.
type Caps struct {
	Ctx    context.Context
	Left   time.Duration // for all searches to come
	Memory int64         // bytes that one search may need
	Size   int           // operations in a segment
}

// Answer is the answer of a search. The zero Answer means that an order fits.
type Answer struct {
	Illegal  bool          // no order fits
	Why      string        // the reason why it is not decided; "" if it is
	N        int           // the number of operations of the illegal segment
	From, To time.Duration // its time
}

// Undecided reports whether the search did not decide whether an order fits.
func (a Answer) Undecided() bool { return a.Why != "" }

// add takes in the answer for another part of the history.
func (a *Answer) add(b Answer) {
	if !a.Illegal && (b.Illegal || b.Undecided()) {
		*a = b
	}
}

// tooLong reports whether a search of n operations would need more memory than it may.
// Porcupine keeps a bit per operation for each operation that it linearizes, so n²/8 bytes, and
// has no cap of its own.
func (s *Caps) tooLong(n int) bool { return int64(n)*int64(n)/8 > s.Memory }

func needs(n int) Answer {
	return Answer{Why: fmt.Sprintf("%s in one piece would need %d MB", words.Count(n, "operation"), int64(n)*int64(n)/8>>20)}
}

// few is the number of operations up to which they are tried one by one before Porcupine is
// asked. Porcupine starts two goroutines and a timer for each search, and a million locks may
// have one operation each.
const few = 4

// oneByOne reports whether a few operations may take effect in the order of their calls, an
// order that the clock allows.
func oneByOne[S, I any](m Model[S, I], ops []Operation[I]) bool {
	if len(ops) > few {
		return false
	}
	var room [few]Operation[I]
	sorted := append(room[:0], ops...)
	slices.SortStableFunc(sorted, func(a, b Operation[I]) int { return cmp.Compare(a.Call, b.Call) })
	state := m.Begin
	for _, o := range sorted {
		allowed, then := m.Step(state, o.Input)
		if !allowed {
			return false
		}
		state = then
	}
	return true
}

// Search searches for an order of the operations that the model allows, unless that would exceed a
// cap.
func Search[S, I any](s *Caps, m Model[S, I], ops []Operation[I]) Answer {
	switch {
	case s.Ctx.Err() != nil:
		return Answer{Why: "it was cancelled"}
	case s.Left <= 0:
		return Answer{Why: "its time was up"}
	case s.tooLong(len(ops)):
		return needs(len(ops))
	case oneByOne(m, ops):
		return Answer{}
	}
	all := make([]porcupine.Operation, len(ops))
	for i, o := range ops {
		all[i] = porcupine.Operation{ClientId: i, Input: o.Input, Call: o.Call, Return: o.Ret}
	}
	begun := time.Now()
	r := porcupine.CheckOperationsTimeout(m.Porcupine(), all, s.Left)
	s.Left -= time.Since(begun)
	switch r {
	case porcupine.Unknown:
		return Answer{Why: "its time was up"}
	case porcupine.Illegal:
		a := Answer{Illegal: true, N: len(ops), From: time.Duration(Never)}
		for _, o := range ops {
			a.From, a.To = min(a.From, time.Duration(o.Call/2)), max(a.To, time.Duration(o.Call/2))
			if o.Ret != Never {
				a.To = max(a.To, time.Duration(o.Ret/2))
			}
		}
		return a
	}
	return Answer{}
}
