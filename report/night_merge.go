package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/checker"
)

// MergeNights merges the parts of a night: nights with the same target, options and seeds,
// each with another part or with any of the runs. The results are in the order of their
// seeds. A run that is in two parts is an error; a run that is in none is left to be
// made. The error names a part by its index among the nights.
func MergeNights(parts []*Night) (*Night, error) {
	if len(parts) == 0 {
		return nil, errors.New("there is nothing to merge")
	}
	merged := *parts[0]
	merged.Shard, merged.Results, merged.CoverageSum = "", nil, checker.CoverageSum{}
	from := make(map[int64]int)
	var versions []string
	for i, p := range parts {
		if err := merged.accepts(p); err != nil {
			return nil, &MergeError{Part: i, Err: err}
		}
		if p.Started.Before(merged.Started) {
			merged.Started = p.Started
		}
		if !slices.Contains(versions, p.Version) {
			versions = append(versions, p.Version)
		}
		for _, r := range p.Results {
			if first, twice := from[r.Seed]; twice {
				return nil, &MergeError{Part: i, Err: fmt.Errorf("the run with seed %d is also in part %d of these", r.Seed, first+1)}
			}
			from[r.Seed] = i
		}
		merged.Results = append(merged.Results, p.Results...)
		merged.CoverageSum.Add(p.CoverageSum)
	}
	merged.Parts = len(parts)
	merged.Version = strings.Join(versions, ", ")
	slices.SortFunc(merged.Results, func(a, b NightResult) int { return cmp.Compare(a.Seed, b.Seed) })
	return &merged, nil
}

// MergeError reports which of several nights cannot be merged with the earlier ones.
type MergeError struct {
	Part int // from 0
	Err  error
}

func (e *MergeError) Error() string { return fmt.Sprintf("part %d: %v", e.Part+1, e.Err) }
func (e *MergeError) Unwrap() error { return e.Err }

// accepts returns an error if another night is no part of this one.
func (n *Night) accepts(part *Night) error {
	whole := *part
	whole.Shard = n.Shard
	switch other := whole.Differs(n); {
	case other != "":
		return fmt.Errorf("it is of another %s", other)
	case part.First != n.First:
		return fmt.Errorf("its first seed is %d, not %d", part.First, n.First)
	case part.Seeds != n.Seeds:
		return fmt.Errorf("it is a part of %d runs, not of %d", part.Seeds, n.Seeds)
	}
	return nil
}
