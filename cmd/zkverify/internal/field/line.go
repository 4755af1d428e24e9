package field

import "slices"

// line is a line of the page about a lock: the violations of a guarantee with one explanation.
type line struct {
	explanation *Explanation // nil for none
	guarantee   string
}

// linesOf returns the lines of the page of which a run is a case.
func (f *Field) linesOf(r *Result) (all []line) {
	for _, v := range r.violated() {
		all = append(all, line{f.explained(r, *v), v.Guarantee})
	}
	return all
}

// without returns those of the lines that a run does not have, or that came back in less than the
// given share of its repeats.
func without(lines []line, f *Field, r *Result, share float64) []line {
	return slices.DeleteFunc(slices.Clone(lines), func(one line) bool {
		return slices.ContainsFunc(r.violated(), func(v *Verdict) bool {
			return line{f.explained(r, *v), v.Guarantee} == one && r.cameBack(v.Guarantee) >= share
		})
	})
}
