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
	for grain := time.Millisecond; t.bars > maxBars/2 && grain < time.Hour; grain *= 2 {
		t.bars = 0
		for _, tr := range t.tracks {
			sortBars(tr.bars)
			tr.bars = t.merge(tr.bars, grain)
			t.bars += len(tr.bars)
		}
	}
	t.limit = max(maxBars, 2*t.bars)
}

// merge makes one of bars in order that are shorter than grain, as far as they
// begin within a grain of each other. What went wrong stays as it is.
func (t *timeline) merge(bars []bar, grain time.Duration) []bar {
	out := bars[:0]
	for _, b := range bars {
		short := b.to-b.from < grain && b.kind != suspended && b.kind != afterLoss && b.kind != unanswered && !t.near(b.from, b.to)
		if !short && b.kind != many {
			out = append(out, b)
			continue
		}
		if b.kind != many {
			b = bar{from: b.from, to: b.to, process: b.process, kind: many, amount: 1, place: shareHeld(b)}
		}
		if n := len(out); n > 0 && out[n-1].kind == many && b.from-out[n-1].from < grain {
			last := &out[n-1]
			before, now := last.to-last.from, b.to-b.from
			last.to = max(last.to, b.to)
			if span := last.to - last.from; span > 0 {
				last.place = int32(min(100, (int64(last.place)*int64(before)+int64(b.place)*int64(now))/int64(span)))
			}
			last.amount += b.amount
			continue
		}
		out = append(out, b)
	}
	return out
}

// shareHeld is how much of a bar is a hold, in percent.
func shareHeld(b bar) int32 {
	if b.kind == held || b.kind == inside {
		return 100
	}
	return 0
}

// sortBars puts bars in the order of their beginnings, a hold before what lies
// in it.
func sortBars(bars []bar) {
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
}
