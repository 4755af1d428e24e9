package checker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// contended draws a short contended history of one lock, about a third of them
// illegal, with unanswered releases and holds of every length, on a clock so
// coarse that many events touch.
func contended(r *rand.Rand) []piece {
	var holds []*hold
	now := time.Duration(0)
	for range 6 + r.IntN(14) {
		start := now + time.Duration(r.IntN(3))
		if r.IntN(25) == 0 {
			start = max(0, start-time.Duration(r.IntN(4))) // a grant that came too early
		}
		end := start + time.Duration(r.IntN(5))
		h := &hold{lock: "a", call: max(0, start-time.Duration(r.IntN(12))), start: start, end: end, released: end + time.Duration(r.IntN(4))}
		switch r.IntN(12) {
		case 0:
			h.released = forever
		case 1:
			if r.IntN(8) == 0 {
				h.end, h.released = forever, forever
			}
		}
		if r.IntN(8) == 0 && h.end-h.start > 2 {
			h.excuses = []span{{h.start + 1, h.start + 2}}
		}
		holds = append(holds, h)
		now = max(now, end)
	}
	return piecesOf(holds)
}

func TestUncutPorcupineCutPorcupineAndTheSweepAgree(t *testing.T) {
	n := 30_000
	if testing.Short() || raceEnabled {
		n = 3_000
	}
	const seed = 1
	r := rand.New(rand.NewPCG(seed, seed))
	s := &search{ctx: context.Background(), deadline: time.Now().Add(time.Hour), memory: 1 << 30}
	illegal, cuts := 0, 0
	for i := range n {
		pieces := contended(r)
		found := overlaps(pieces) > 0
		if found {
			illegal++
		}
		for _, size := range []int{1 << 30, 8, 1} {
			s.size = size
			if got := s.mutex(pieces); (got.result == porcupine.Illegal) != found {
				t.Fatalf("history %d of seed %d, cut every %d: Porcupine says %v, the sweep found an overlap: %v\n%s", i, seed, size, got, found, show(pieces))
			}
		}
		cuts += len(cut(pieces, 8)) - 1
	}
	t.Logf("%d histories, %d of them illegal, %d cuts", n, illegal, cuts)
	if illegal < n/10 || illegal > n*9/10 || cuts < n {
		t.Errorf("the histories are lopsided: %d of %d illegal, %d cuts", illegal, n, cuts)
	}
}

func show(pieces []piece) (s string) {
	for _, p := range pieces {
		s += fmt.Sprintf("call %d, held [%d, %d], free %d\n", p.call, p.from, p.to, p.free)
	}
	return s
}

// long draws a legal history of n operations by clients that contend for one
// lock all the time.
func long(n, clients int) []piece {
	r := rand.New(rand.NewPCG(2, 2))
	last := make([]time.Duration, clients)
	var holds []*hold
	now := time.Duration(0)
	for range n / 2 {
		c := r.IntN(clients)
		start := now + time.Duration(1+r.IntN(5))
		end := start + time.Duration(2+r.IntN(20))
		now = end
		holds = append(holds, &hold{lock: "a", process: c, call: last[c], start: start, end: end, released: end})
		last[c] = end
	}
	return piecesOf(holds)
}

func BenchmarkSweepOfAMillionOperations(b *testing.B) {
	pieces := long(1_000_000, 50)
	for b.Loop() {
		if overlaps(pieces) != 0 {
			b.Fatal("illegal")
		}
	}
}

func BenchmarkPorcupineOfAMillionOperations(b *testing.B) {
	pieces := long(1_000_000, 50)
	for b.Loop() {
		s := &search{ctx: context.Background(), deadline: time.Now().Add(time.Hour), memory: 1 << 30, size: 200}
		if a := s.mutex(pieces); a.result != porcupine.Ok {
			b.Fatal(a)
		}
	}
}
