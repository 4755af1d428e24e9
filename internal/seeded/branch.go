package seeded

import (
	"math/rand/v2"
	"sync/atomic"
)

// branched is the seed of the last Branch, 0 before the first one.
var branched atomic.Uint64

// Branch lets a run go on in another way: from now on the runtime's generator, and those that
// Rand returns, draw from another seed, which is not 0. A generator that does not exist yet does so
// too.
func Branch(seed uint64) {
	branched.Store(seed)
	Seed(seed)
}

// Rand returns a generator that draws what one of rand.NewPCG with these seeds does, until Branch
// is called. It belongs to one goroutine at a time.
func Rand(seed1, seed2 uint64) *rand.Rand { return rand.New(&source{pcg: *rand.NewPCG(seed1, seed2)}) }

type source struct {
	pcg rand.PCG
	of  uint64 // the Branch that pcg belongs to
}

// Uint64 implements rand.Source.
func (s *source) Uint64() uint64 {
	if now := branched.Load(); now != s.of {
		s.pcg.Seed(s.pcg.Uint64(), now)
		s.of = now
	}
	return s.pcg.Uint64()
}
