package fencing

import (
	"cmp"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

// chain is a run of consecutive values of a counter that were all written.
type chain struct{ first, last *facts.Op }

// chains are the chains of one counter, by value. A counter that lost no increment has few at
// any time, however long its history.
type chains []chain

// add adds a write of a value. A value that is in a chain already is ignored.
func (c chains) add(o *facts.Op) chains {
	i, _ := slices.BinarySearchFunc(c, o.Value, func(k chain, v int64) int { return cmp.Compare(k.first.Value, v) })
	below := i > 0 && c[i-1].last.Value == o.Value-1
	above := i < len(c) && c[i].first.Value == o.Value+1
	switch {
	case i > 0 && c[i-1].last.Value >= o.Value, i < len(c) && c[i].first.Value == o.Value:
		return c // written before, and forgotten: the counter went back, which is reported elsewhere
	case below && above:
		c[i-1].last = c[i].last
		return slices.Delete(c, i, i+1)
	case below:
		c[i-1].last = o
		return c
	case above:
		c[i].first = o
		return c
	}
	return slices.Insert(c, i, chain{o, o})
}

// gaps reports the ends of two chains between which the value just below the second must have
// been written, though no operation can have written it.
func (c chains) gaps(maybe map[int64]bool, report func(below, above *facts.Op)) {
	for i := 1; i < len(c); i++ {
		if !maybe[c[i].first.Value-1] {
			report(c[i-1].last, c[i].first)
		}
	}
}
