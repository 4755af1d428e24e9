package report

import (
	"cmp"
	"slices"
	"time"
)

// maxBars bounds the bars that a page draws one by one. Beyond it, bars so short that they
// are visible only after zooming in far are merged, more and more coarsely.
const maxBars = 1_000_000

// thin merges many short bars that follow one another into one, but not near a
// violation. It leaves at most half of the allowed number, so that it is seldom
// called. Bars that cannot be merged stay.
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

// merge merges bars, which are in order, that are shorter than grain and begin within a
// grain of each other. Suspended, lost, stale and unanswered bars stay as they are.
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

// holds returns the time for which a lock is held in a bar.
func (b *bar) holds() time.Duration {
	switch b.kind {
	case held, inside:
		return b.to - b.from
	case many:
		return b.held
	}
	return 0
}

// share returns the share of a bar in which the lock is held, in percent.
func (b *bar) share() int32 {
	if b.to == b.from {
		return 0
	}
	return int32(min(100, 100*b.holds()/(b.to-b.from)))
}

// sortBars sorts bars by their beginnings, a hold before the bars inside it.
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
