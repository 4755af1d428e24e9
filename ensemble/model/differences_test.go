package model_test

import (
	"fmt"
	"slices"
	"strings"
)

// Difference is a step in which two transcripts differ.
type Difference struct {
	Step int
	A, B []Observation // the differing ones; the step has more
}

// String returns the observations of both.
func (d Difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d\n", d.Step)
	for _, side := range []struct {
		name string
		seen []Observation
	}{{"a", d.A}, {"b", d.B}} {
		for _, o := range side.seen {
			fmt.Fprintf(&b, "  %s: %s\n", side.name, o)
		}
		if len(side.seen) == 0 {
			fmt.Fprintf(&b, "  %s: nothing\n", side.name)
		}
	}
	return b.String()
}

// Compare returns the steps at which the transcripts of one program differ.
func Compare(a, b Transcript) []Difference {
	var all []Difference
	for i := range max(len(a.Steps), len(b.Steps)) {
		var sa, sb []Observation
		if i < len(a.Steps) {
			sa = a.Steps[i]
		}
		if i < len(b.Steps) {
			sb = b.Steps[i]
		}
		if slices.Equal(sa, sb) {
			continue
		}
		// Skip the equal beginning and the equal end.
		for len(sa) > 0 && len(sb) > 0 && sa[0] == sb[0] {
			sa, sb = sa[1:], sb[1:]
		}
		for len(sa) > 0 && len(sb) > 0 && sa[len(sa)-1] == sb[len(sb)-1] {
			sa, sb = sa[:len(sa)-1], sb[:len(sb)-1]
		}
		all = append(all, Difference{i, sa, sb})
	}
	return all
}

// Shrink removes from a program steps and requests that a difference does not need: those
// without which differs still holds.
func Shrink(p Program, differs func(Program) (bool, error)) (Program, error) {
	for size := max(len(p.Steps)/2, 1); ; size /= 2 {
		for from := 0; from < len(p.Steps); {
			less := Program{p.Seed, slices.Delete(slices.Clone(p.Steps), from, min(from+size, len(p.Steps)))}
			still, err := differs(less)
			if err != nil {
				return p, err
			}
			if still {
				p = less
			} else {
				from += size
			}
		}
		if size <= 1 {
			return shrinkRequests(p, differs)
		}
	}
}

func shrinkRequests(p Program, differs func(Program) (bool, error)) (Program, error) {
	for i := range p.Steps {
		for j := 0; j < len(p.Steps[i].Requests) && len(p.Steps[i].Requests) > 1; {
			less := Program{p.Seed, slices.Clone(p.Steps)}
			less.Steps[i].Requests = slices.Delete(slices.Clone(p.Steps[i].Requests), j, j+1)
			still, err := differs(less)
			if err != nil {
				return p, err
			}
			if still {
				p = less
			} else {
				j++
			}
		}
	}
	return p, nil
}
