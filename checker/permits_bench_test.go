package checker

import (
	"math/rand/v2"
	"testing"
	"time"
)

// room reports whether h has room from its start on.
func room(holds []*hold, h *hold, size int) bool {
	n := h.permits
	for _, o := range holds {
		if o.end > h.start {
			n += o.permits
		}
	}
	return n <= max(size, 2)
}

// longPermits is a legal history of half as many grants, or one in which every
// tenth came too early, of a semaphore of 3 whose size changes all the time.
func longPermits(n int, broken bool) ([]piece, *sizes) {
	r := rand.New(rand.NewPCG(5, 5))
	all := []sizeChange{{size: 3, call: -1, ret: -1}}
	var holds []*hold
	now := time.Duration(0)
	size := 3
	for i := range n / 2 {
		if i%20 == 0 {
			size = 2 + r.IntN(4)
			all = append(all, sizeChange{size: size, call: now + 1, ret: now + 3})
			now += 4
		}
		h := &hold{lock: "a", permits: 1 + r.IntN(2), start: now + 1}
		recent := holds[max(0, len(holds)-30):]
		for !broken || i%10 != 0 {
			if room(recent, h, size) {
				break
			}
			h.start++
		}
		h.call, h.end = max(0, h.start-time.Duration(r.IntN(40))), h.start+time.Duration(2+r.IntN(20))
		h.released = h.end
		now = h.start
		holds = append(holds, h)
	}
	return piecesOf(holds), newSizes(all)
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
				noRoom(pieces, sizes, func(shortage) { n++ })
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
		if a := atOnce(pieces, sizes, 200, besidePermits(pieces)); a.illegal || a.undecided() {
			b.Fatal(a)
		}
	}
}
