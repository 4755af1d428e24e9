package checker

import (
	"context"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
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
	ctx      context.Context
	deadline time.Time
	memory   int64 // bytes that one search may need
	size     int   // operations in a segment
}

// answer of a search.
type answer struct {
	result porcupine.CheckResult
	why    string // why it is unknown
}

// run searches ops, unless that would exceed a cap. Porcupine keeps a bit per
// operation for each operation that it linearizes, so n²/8 bytes, and has no
// cap of its own.
func (s *search) run(m porcupine.Model, ops []porcupine.Operation) answer {
	if s.ctx.Err() != nil {
		return answer{porcupine.Unknown, "it was cancelled"}
	}
	left := time.Until(s.deadline)
	if left <= 0 {
		return answer{porcupine.Unknown, "its time was up"}
	}
	if n := int64(len(ops)); n*n/8 > s.memory {
		return answer{porcupine.Unknown, fmt.Sprintf("%d operations in one piece would need %d MB", n, n*n/8>>20)}
	}
	if r := porcupine.CheckOperationsTimeout(m, ops, left); r != porcupine.Unknown {
		return answer{r, ""}
	}
	return answer{porcupine.Unknown, "its time was up"}
}

// mutex searches the pieces of one lock. It stops at the first illegal segment.
func (s *search) mutex(pieces []piece) answer {
	out := answer{porcupine.Ok, ""}
	for _, seg := range cut(pieces, s.size) {
		switch a := s.run(mutexModel(seg.holder), seg.ops); a.result {
		case porcupine.Illegal:
			return a
		case porcupine.Unknown:
			out = a
		}
	}
	return out
}
