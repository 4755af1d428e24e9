package field

import "slices"

// line is one of those that the page has for a lock.
type line struct {
	explanation *Explanation // nil for none
	guarantee   string
}

// linesOf are those that a run is a case of.
func (f *Field) linesOf(r *Result) (all []line) {
	for _, v := range r.violated() {
		all = append(all, line{f.explained(r, *v), v.Guarantee})
	}
	return all
}

// without returns the lines that a run does not have, or that came back in less than a share of
// its repeats.
func without(lines []line, f *Field, r *Result, share float64) []line {
	return slices.DeleteFunc(slices.Clone(lines), func(one line) bool {
		return slices.ContainsFunc(r.violated(), func(v *Verdict) bool {
			return line{f.explained(r, *v), v.Guarantee} == one && r.cameBack(v.Guarantee) >= share
		})
	})
}
