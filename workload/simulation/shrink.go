package simulation

import (
	"context"
	"slices"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/nemesis"
)

// Again carries out a violated run so many times more, and returns how many of these runs were
// the same, message by message, and how many violated the same guarantee.
func (f Fleet) Again(ctx context.Context, o Outcome, dir string, times int) (same, violated int, err error) {
	for range times {
		again, err := f.Run(ctx, o.Spec, dir)
		if err != nil {
			return same, violated, err
		}
		if again.Hash == o.Hash {
			same++
		}
		if violates(again, o) {
			violated++
		}
	}
	return same, violated, nil
}

// violates reports whether again violates the first guarantee that o violates.
func violates(again, o Outcome) bool {
	return again.Outcome == verdict.Violated && slices.Contains(again.Violated, o.Violated[0])
}

// ShrinkRuns is the largest number of runs of Shrink.
const ShrinkRuns = 60

// Shrink looks for fewer faults that violate the same guarantee, by carrying out the run
// without some of them: halves first, then single ones. It returns the Spec with a schedule of
// the faults that are left, and the number of runs. All runs use the folder dir.
func (f Fleet) Shrink(ctx context.Context, o Outcome, dir string) (Spec, int, error) {
	s := o.Spec
	steps := slices.Clone(o.Schedule.Steps)
	runs := 0
	fails := func(left []nemesis.Step) (bool, error) {
		runs++
		s.Schedule = &nemesis.Schedule{Steps: left}
		again, err := f.Run(ctx, s, dir)
		return err == nil && violates(again, o), err
	}
	for size := (len(steps) + 1) / 2; size > 0 && runs < ShrinkRuns; {
		removed := false
		for i := 0; i < len(steps) && runs < ShrinkRuns; {
			left := slices.Delete(slices.Clone(steps), i, min(i+size, len(steps)))
			ok, err := fails(left)
			if err != nil {
				return s, runs, err
			}
			if ok {
				steps, removed = left, true
			} else {
				i += size
			}
		}
		if size == 1 && !removed {
			break
		}
		if !removed || size > 1 {
			size /= 2
		}
	}
	s.Schedule = &nemesis.Schedule{Steps: steps}
	return s, runs, nil
}
