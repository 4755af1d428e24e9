package checker

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/histories"
)

func caps(size int) *searchCaps {
	return &searchCaps{ctx: context.Background(), left: time.Hour, memory: 1 << 30, size: size}
}

// atOnce searches pieces of one lock all at once, cut every so many operations.
func atOnce(pieces []piece, sizes *sizes, size int, admits func(holdings, int) bool) answer {
	s := caps(size)
	var r segmentSearch[holdingsCut, holdingsStep]
	r.window(cutHoldings(pieces, sizes, s.size, beginning(sizes), forever, forever), true, searchHoldings(s, admits))
	return r.answer
}

// overlaps counts the pairs that sweep finds.
func overlaps(pieces []piece, clash func(a, b *hold) bool) int {
	n := 0
	sweep(pieces, clash, func(_, _ piece) bool { n++; return n < maxPairs })
	return n
}

// apart says in its own words what exclude does.
func apart(a, b *hold) bool {
	return a.owner != b.owner && (a.mode == histories.ModeWrite || b.mode == histories.ModeWrite)
}

func TestTheEnginesAgreeOnHoldings(t *testing.T) {
	some := func(r histories.Recipe) bool { return r.Exclusive() || r == histories.ReadWrite || r.HasPermits() }
	drawn.Agree(t, some, func(t *rapid.T, a *drawn.Agreement, h *histories.History) {
		tr := newTrace(h)
		for _, lock := range tr.locks {
			holds := tr.byLock[lock]
			switch r := tr.recipe(lock); {
			case r.Exclusive():
				agreeOnShared(t, a, h, lock, piecesOf(holds), nil, differ, differ)
			case r == histories.ReadWrite:
				agreeOnShared(t, a, h, lock, piecesOf(holds), besideReaders(piecesOf(holds)), exclude, apart)
			case r.HasPermits():
				sizes := tr.sizesOf(lock)
				agreeOnPermits(t, a, h, lock, permitPieces(holds, sizes), sizes)
			}
		}
	})
}

func agreeOnShared(t *rapid.T, a *drawn.Agreement, h *histories.History, lock string, pieces []piece, admits func(holdings, int) bool, clash, brute func(a, b *hold) bool) {
	a.Cuts += len(cutHoldings(pieces, nil, 2, beginning(nil), forever, forever)) - 1
	a.Same(t, h, lock, overlaps(pieces, clash) > 0, func(size int) bool { return atOnce(pieces, nil, size, admits).illegal }, bruteHolds(pieces, nil, brute), 0)
}

func agreeOnPermits(t *rapid.T, a *drawn.Agreement, h *histories.History, lock string, pieces []piece, sizes *sizes) {
	a.Cuts += len(cutHoldings(pieces, sizes, 2, beginning(sizes), forever, forever)) - 1
	found := false
	noRoom(pieces, sizes, func(shortage) { found = true })
	illegal := func(size int) bool { return atOnce(pieces, sizes, size, besidePermits(pieces)).illegal }
	if !sizes.exact {
		// What the sweep lets pass is Porcupine's to decide.
		a.Undecided++
		wrong := illegal(1 << 30)
		if found && !wrong {
			t.Fatalf("of %s the sweep found a violation, Porcupine none\n%s", lock, drawn.Text(h))
		}
		found = wrong
	}
	a.Same(t, h, lock, found, illegal, bruteHolds(pieces, sizes, nil), sizes.all[0].size)
}

// bruteHolds tries holds of a lock. Those of one owner clash, unless they may not.
func bruteHolds(pieces []piece, sizes *sizes, clash func(a, b *hold) bool) []drawn.Op {
	var ops []drawn.Op
	gives := make([]int, len(pieces))
	for i := range pieces { // the takes are the first
		ops = append(ops, drawn.Op{Call: pieces[i].call, Ret: pieces[i].from, Do: func(done, x int) (int, bool) {
			sum := pieces[i].hold.permits
			for j := range pieces {
				if j == i || done&(1<<j) == 0 || gives[j] > 0 && done&(1<<gives[j]) != 0 {
					continue
				}
				sum += pieces[j].hold.permits
				if sizes == nil && clash(pieces[j].hold, pieces[i].hold) {
					return 0, false
				}
			}
			return x, sizes == nil || sum <= x
		}})
	}
	for i, p := range pieces {
		if p.to == forever {
			continue
		}
		gives[i] = len(ops)
		ops = append(ops, drawn.Op{Call: p.to, Ret: max(p.to, p.free), Do: func(done, x int) (int, bool) { return x, done&(1<<i) != 0 }})
	}
	if sizes != nil {
		for _, c := range sizes.all[1:] {
			ops = append(ops, drawn.Op{Call: c.call, Ret: c.ret, Do: func(_, _ int) (int, bool) { return c.size, true }})
		}
	}
	return ops
}
