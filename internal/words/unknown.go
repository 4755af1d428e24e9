package words

import (
	"fmt"
	"slices"
	"strings"
)

// Unknown returns the error for an unknown name: "unknown fault "dwon": did you mean
// "down"?". If no known name is similar, the error tells where the known names are.
func Unknown(kind, name string, known []string, seeAlso string) error {
	return fmt.Errorf("unknown %s %s", kind, Instead(name, known, seeAlso))
}

// Instead returns the second part of such an error: the name, and the name to use instead.
func Instead(name string, known []string, seeAlso string) string {
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf("%q: did you mean %q? %s", name, near, seeAlso)
	}
	return fmt.Sprintf("%q; %s", name, seeAlso)
}

// Known lists names, for the end of Unknown.
func Known(names []string) string { return "known: " + strings.Join(names, ", ") }

// Nearest returns the name that was probably meant, or "" if no name is similar: one that
// begins with name, or is a few letters away from it. A missing, added or replaced letter
// counts one, and so do two neighbors that changed places.
func Nearest(name string, known []string) string {
	typed := strings.ToLower(name)
	best, least := "", max(1, len([]rune(typed))/3)+1
	for _, k := range known {
		d := distance([]rune(typed), []rune(strings.ToLower(k)))
		if len(typed) >= 3 && strings.HasPrefix(strings.ToLower(k), typed) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns the least number of edits that turn b into a.
func distance(a, b []rune) int {
	var before []int // the row before the last one
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = slices.Min([]int{change, last[j] + 1, row[j-1] + 1})
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
