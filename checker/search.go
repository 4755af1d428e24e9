package checker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/zkverify/zkverify/internal/words"
)

// free is the state of a mutex that nobody holds.
const free = -1

// step is an operation of the mutex model: piece takes or gives back the lock.
type step struct {
	piece int
	take  bool
}

// mutexModel is the owner-aware mutex, one owner per piece of belief. An
// ownerless mutex, locked or not, would explain a real double hold away with
// the unanswered release of somebody else.
func mutexModel(holder int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return holder },
		Step: func(state, input, _ any) (bool, any) {
			s, in := state.(int), input.(step)
			if in.take {
				return s == free, in.piece
			}
			return s == in.piece, free
		},
		Hash: func(state any) uint64 { return uint64(state.(int)) * 0x9e3779b97f4a7c15 },
		DescribeOperation: func(input, _ any) string {
			if in := input.(step); in.take {
				return fmt.Sprintf("acquire %d", in.piece)
			} else {
				return fmt.Sprintf("release %d", in.piece)
			}
		},
	}
}

// search is Porcupine under caps.
type search struct {
	ctx    context.Context
	left   time.Duration // for all searches to come
	memory int64         // bytes that one search may need
	size   int           // operations in a segment
}

// answer of a search.
type answer struct {
	result   porcupine.CheckResult
	why      string        // why it is unknown
	n        int           // operations of what is illegal
	from, to time.Duration // when that was
}

// run searches ops, unless that would exceed a cap. Porcupine keeps a bit per
// operation for each operation that it linearizes, so n²/8 bytes, and has no
// cap of its own.
func (s *search) run(m porcupine.Model, ops []porcupine.Operation) answer {
	if s.ctx.Err() != nil {
		return undecided("it was cancelled")
	}
	if s.left <= 0 {
		return undecided("its time was up")
	}
	if n := int64(len(ops)); n*n/8 > s.memory {
		return tooLong(n)
	}
	begun := time.Now()
	r := porcupine.CheckOperationsTimeout(m, ops, s.left)
	s.left -= time.Since(begun)
	switch r {
	case porcupine.Unknown:
		return undecided("its time was up")
	case porcupine.Illegal:
		a := answer{result: r, n: len(ops), from: forever}
		for _, o := range ops {
			a.from, a.to = min(a.from, time.Duration(o.Call/2)), max(a.to, time.Duration(o.Call/2))
			if o.Return != never {
				a.to = max(a.to, time.Duration(o.Return/2))
			}
		}
		return a
	}
	return answer{result: r}
}

func tooLong(n int64) answer {
	return undecided(fmt.Sprintf("%s in one piece would need %d MB", words.Count(n, "operation"), n*n/8>>20))
}

func undecided(why string) answer { return answer{result: porcupine.Unknown, why: why} }

// mutexSearch searches the holds of one lock as windows of the history show
// them. It keeps the holds of the segment that is not yet complete.
type mutexSearch struct {
	answer answer
	holds  []*hold // not over, or with a part after the last cut
	at     cutAt   // the last cut
	holder *hold   // who held the lock there, in the piece that begins at from
	from   time.Duration
}

func newMutexSearch() mutexSearch {
	return mutexSearch{answer: answer{result: porcupine.Ok}, at: start}
}

// window takes in the holds of a window of which nothing is known after t.end.
func (m *mutexSearch) window(s *search, t *trace, holds []*hold) {
	if m.answer.result == porcupine.Illegal {
		m.holds = nil
		return
	}
	for _, h := range holds {
		if t.begun(h) {
			m.holds = append(m.holds, h)
		}
	}
	for _, h := range m.holds {
		h.excuses = t.faults.excuses(h)
	}
	pieces := piecesOf(m.holds)
	m.at.holder = slices.IndexFunc(pieces, func(p piece) bool { return p.hold == m.holder && p.from == m.from })
	until := t.end
	if t.last {
		until = forever
	}
	segments := cut(pieces, s.size, m.at, until)
	if !t.last {
		// The last one goes on.
		open := segments[len(segments)-1]
		segments = segments[:len(segments)-1]
		if len(segments) > 0 {
			m.at = open.cutAt
			m.holder, m.from = pieces[open.holder].hold, pieces[open.holder].from
		}
	}
	m.segments(s, segments)
	m.holds = slices.DeleteFunc(m.holds, func(h *hold) bool {
		return t.over(h) && twice(int64(h.end)) < m.at.time
	})
}

func (m *mutexSearch) segments(s *search, segments []segment) {
	for _, seg := range segments {
		m.answer.add(s.run(mutexModel(seg.holder), seg.ops))
		if m.answer.result == porcupine.Illegal {
			return
		}
	}
}

// add takes the answer for another part of the history in.
func (a *answer) add(b answer) {
	if a.result != porcupine.Illegal && b.result != porcupine.Ok {
		*a = b
	}
}
