package holding

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

// room reports whether h has room from its start on.
func room(holds []*facts.Hold, h *facts.Hold, size int) bool {
	n := h.Permits
	for _, o := range holds {
		if o.End > h.Start {
			n += o.Permits
		}
	}
	return n <= max(size, 2)
}

// longPermits is a legal history of half as many grants, or one in which every tenth came too
// early, of a semaphore of size 3 whose size changes all the time.
func longPermits(n int, broken bool) ([]facts.Piece, *Sizes) {
	r := rand.New(rand.NewPCG(5, 5))
	all := []SizeChange{{Size: 3, Call: -1, Ret: -1}}
	var holds []*facts.Hold
	now := time.Duration(0)
	size := 3
	for i := range n / 2 {
		if i%20 == 0 {
			size = 2 + r.IntN(4)
			all = append(all, SizeChange{Size: size, Call: now + 1, Ret: now + 3})
			now += 4
		}
		h := &facts.Hold{Lock: "a", Permits: 1 + r.IntN(2), Start: now + 1}
		recent := holds[max(0, len(holds)-30):]
		for !broken || i%10 != 0 {
			if room(recent, h, size) {
				break
			}
			h.Start++
		}
		h.Call, h.End = max(0, h.Start-time.Duration(r.IntN(40))), h.Start+time.Duration(2+r.IntN(20))
		h.Released = h.End
		now = h.Start
		holds = append(holds, h)
	}
	return facts.PiecesOf(holds), newSizes(all)
}

func BenchmarkRoomForPermits(b *testing.B) {
	for _, c := range []struct {
		name   string
		n      int
		broken bool
	}{{"a million operations", 1_000_000, false}, {"a tenth of the grants of 100,000 operations too early", 100_000, true}} {
		b.Run(c.name, func(b *testing.B) {
			pieces, sizes := longPermits(c.n, c.broken)
			for b.Loop() {
				n := 0
				noRoom(pieces, sizes, shortages{func(shortage) { n++ }, func(time.Duration) bool { return true }, nil})
				if (n > 0) != c.broken {
					b.Fatal(n)
				}
			}
		})
	}
}

func BenchmarkPorcupineOfAMillionOperationsOnPermits(b *testing.B) {
	pieces, sizes := longPermits(1_000_000, false)
	for b.Loop() {
		if a := atOnce(pieces, sizes, 200, BesidePermits(pieces)); a.Illegal || a.Undecided() {
			b.Fatal(a)
		}
	}
}
