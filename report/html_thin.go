package report

import (
	"cmp"
	"slices"
	"time"
)

// maxBars bounds what a page draws one by one. Beyond it, what is so short that
// nobody sees it before zooming in far is drawn as one, coarser and coarser.
const maxBars = 1_000_000

// thin makes one bar of many short ones that follow one another, but not where a
// violation is near. It leaves half of what is allowed at most, so that it is
// seldom done; what cannot be made one is left alone.
func (t *timeline) thin() {
	for grain := time.Millisecond; t.bars > t.most/2 && grain < time.Hour; grain *= 2 {
		t.bars = 0
		for _, tr := range t.tracks {
			sortBars(tr.bars)
			tr.bars = t.merge(tr.bars, grain)
			t.bars += len(tr.bars)
		}
	}
	t.limit = max(t.most, 2*t.bars)
}

// merge makes one of bars in order that are shorter than grain, as far as they
// begin within a grain of each other. What went wrong stays as it is.
func (t *timeline) merge(bars []bar, grain time.Duration) []bar {
	out := bars[:0]
	for _, b := range bars {
		short := b.to-b.from < grain && b.kind != suspended && b.kind != afterLoss && b.kind != stale && b.kind != unanswered && !t.near(b.from, b.to)
		if !short && b.kind != many {
			out = append(out, b)
			continue
		}
		if b.kind != many {
			b = bar{from: b.from, to: b.to, held: b.holds(), process: b.process, kind: many, amount: 1}
		}
		if n := len(out); n > 0 && out[n-1].kind == many && b.from-out[n-1].from < grain {
			last := &out[n-1]
			last.to = max(last.to, b.to)
			last.held += b.held
			last.amount += b.amount
			continue
		}
		out = append(out, b)
	}
	return out
}

// holds returns how long something is held in a bar.
func (b *bar) holds() time.Duration {
	switch b.kind {
	case held, inside:
		return b.to - b.from
	case many:
		return b.held
	}
	return 0
}

// share is how much of a bar is held, in percent.
func (b *bar) share() int32 {
	if b.to == b.from {
		return 0
	}
	return int32(min(100, 100*b.holds()/(b.to-b.from)))
}

// sortBars puts bars in the order of their beginnings, a hold before what lies
// in it.
func sortBars(bars []bar) {
	inner := func(b bar) int {
		if b.kind == heldAgain {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(bars, func(a, b bar) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), inner(a)-inner(b))
	})
}
