package holding

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/histories"
)

func caps(size int) *judge.Caps {
	return &judge.Caps{Ctx: context.Background(), Left: time.Hour, Memory: 1 << 30, Size: size}
}

// atOnce searches pieces of one lock in one go, cut every so many operations.
func atOnce(pieces []facts.Piece, sizes *Sizes, size int, admits func(Holdings, int) bool) judge.Answer {
	s := caps(size)
	var r judge.SegmentSearch[holdingsCut, HoldingsStep]
	r.Window(cutHoldings(pieces, sizes, s.Size, beginning(sizes), facts.Forever, facts.Forever), true, searchHoldings(s, admits))
	return r.Answer
}

// overlaps counts the pairs that sweep finds.
func overlaps(pieces []facts.Piece, c clash) int {
	n := 0
	sweep(nil, pieces, c, func(*facts.Hold) bool { return true }, func(_, _ facts.Piece) bool { n++; return n < maxPairs })
	return n
}

// apart is an independent version of exclude.
func apart(a, b *facts.Hold) bool {
	return a.Owner != b.Owner && (a.Mode == histories.ModeWrite || b.Mode == histories.ModeWrite)
}

func TestTheEnginesAgreeOnHoldings(t *testing.T) {
	some := func(r histories.Recipe) bool { return r.Exclusive() || r == histories.ReadWrite || r.HasPermits() }
	drawn.Agree(t, some, func(t *rapid.T, a *drawn.Agreement, h *histories.History) {
		tr := facts.Of(h)
		for l := range tr.LocksThat(facts.Every) {
			lock := l.Lock
			holds := tr.HoldsOf(lock)
			switch r := tr.Recipe(lock); {
			case r.Exclusive():
				agreeOnShared(t, a, h, lock, facts.PiecesOf(holds), nil, differ, differ.clash)
			case r == histories.ReadWrite:
				agreeOnShared(t, a, h, lock, facts.PiecesOf(holds), BesideReaders(facts.PiecesOf(holds)), readersBeside, apart)
			case r.HasPermits():
				sizes := SizesOf(tr, lock)
				agreeOnPermits(t, a, h, lock, PermitPieces(holds, sizes), sizes)
			}
		}
	})
}

func agreeOnShared(t *rapid.T, a *drawn.Agreement, h *histories.History, lock string, pieces []facts.Piece, admits func(Holdings, int) bool, c clash, brute func(a, b *facts.Hold) bool) {
	a.Cuts += len(cutHoldings(pieces, nil, 2, beginning(nil), facts.Forever, facts.Forever)) - 1
	a.Same(t, h, lock, overlaps(pieces, c) > 0, func(size int) bool { return atOnce(pieces, nil, size, admits).Illegal }, bruteHolds(pieces, nil, brute), 0)
}

func agreeOnPermits(t *rapid.T, a *drawn.Agreement, h *histories.History, lock string, pieces []facts.Piece, sizes *Sizes) {
	a.Cuts += len(cutHoldings(pieces, sizes, 2, beginning(sizes), facts.Forever, facts.Forever)) - 1
	found := false
	noRoom(pieces, sizes, shortages{func(shortage) { found = true }, func(time.Duration) bool { return true }, nil})
	illegal := func(size int) bool { return atOnce(pieces, sizes, size, BesidePermits(pieces)).Illegal }
	if !sizes.Exact {
		// Porcupine decides about the histories that the sweep lets pass.
		a.Undecided++
		wrong := illegal(1 << 30)
		if found && !wrong {
			t.Fatalf("of %s the sweep found a violation, Porcupine none\n%s", lock, drawn.Text(h))
		}
		found = wrong
	}
	a.Same(t, h, lock, found, illegal, bruteHolds(pieces, sizes, nil), sizes.All[0].Size)
}

// bruteHolds returns the operations of holds of a lock for brute force. clash decides which
// exclude each other.
func bruteHolds(pieces []facts.Piece, sizes *Sizes, clash func(a, b *facts.Hold) bool) []drawn.Op {
	var ops []drawn.Op
	gives := make([]int, len(pieces))
	for i := range pieces { // the takes are the first operations
		ops = append(ops, drawn.Op{Call: pieces[i].Call, Ret: pieces[i].From, Do: func(done, x int) (int, bool) {
			sum := pieces[i].Hold.Permits
			for j := range pieces {
				if j == i || done&(1<<j) == 0 || gives[j] > 0 && done&(1<<gives[j]) != 0 {
					continue
				}
				sum += pieces[j].Hold.Permits
				if sizes == nil && clash(pieces[j].Hold, pieces[i].Hold) {
					return 0, false
				}
			}
			return x, sizes == nil || sum <= x
		}})
	}
	for i, p := range pieces {
		if p.To == facts.Forever {
			continue
		}
		gives[i] = len(ops)
		ops = append(ops, drawn.Op{Call: p.To, Ret: max(p.To, p.Free), Do: func(done, x int) (int, bool) { return x, done&(1<<i) != 0 }})
	}
	if sizes != nil {
		for _, c := range sizes.All[1:] {
			ops = append(ops, drawn.Op{Call: c.Call, Ret: c.Ret, Do: func(_, _ int) (int, bool) { return c.Size, true }})
		}
	}
	return ops
}

// beginning returns the cut at the start of a history.
func beginning(sizes *Sizes) holdingsCut {
	c := holdingsCut{time: -1}
	if sizes != nil {
		c.state.Size = sizes.All[0].Size
	}
	return c
}
