package fencing

import (
	"cmp"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

// chain is a run of values of a counter, each one above the one before, that
// were all written.
type chain struct{ first, last *facts.Op }

// chains are those of one counter, by value. A counter that lost nothing has few
// at any time, however long its history.
type chains []chain

// add takes in a write of a value that is in none of them.
func (c chains) add(o *facts.Op) chains {
	i, _ := slices.BinarySearchFunc(c, o.Value, func(k chain, v int64) int { return cmp.Compare(k.first.Value, v) })
	below := i > 0 && c[i-1].last.Value == o.Value-1
	above := i < len(c) && c[i].first.Value == o.Value+1
	switch {
	case i > 0 && c[i-1].last.Value >= o.Value, i < len(c) && c[i].first.Value == o.Value:
		return c // written before, and forgotten: it went back, which is told
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

// gaps reports the ends of two chains between which somebody must have written
// the value just below the second, and nobody can have.
func (c chains) gaps(maybe map[int64]bool, report func(below, above *facts.Op)) {
	for i := 1; i < len(c); i++ {
		if !maybe[c[i].first.Value-1] {
			report(c[i-1].last, c[i].first)
		}
	}
}
