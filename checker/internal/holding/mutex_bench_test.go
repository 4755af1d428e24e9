package holding

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

// long draws a legal history of n operations by clients that contend for one
// lock all the time.
func long(n, clients int) []facts.Piece {
	r := rand.New(rand.NewPCG(2, 2))
	last := make([]time.Duration, clients)
	var holds []*facts.Hold
	now := time.Duration(0)
	for range n / 2 {
		c := r.IntN(clients)
		start := now + time.Duration(1+r.IntN(5))
		end := start + time.Duration(2+r.IntN(20))
		now = end
		holds = append(holds, &facts.Hold{Lock: "a", Process: c, Call: last[c], Start: start, End: end, Released: end})
		last[c] = end
	}
	return facts.PiecesOf(holds)
}

func BenchmarkSweepOfAMillionOperations(b *testing.B) {
	pieces := long(1_000_000, 50)
	for b.Loop() {
		if overlaps(pieces, differ) != 0 {
			b.Fatal("illegal")
		}
	}
}

func BenchmarkPorcupineOfAMillionOperations(b *testing.B) {
	pieces := long(1_000_000, 50)
	for b.Loop() {
		if a := atOnce(pieces, nil, 200, nil); a.Illegal || a.Undecided() {
			b.Fatal(a)
		}
	}
}
