package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/histories/situations"
)

// Missed tells which situations did not occur, of those that the runs could show. It returns ""
// if all did, or none was counted.
func Missed(counts situations.Counts) string {
	var names []string
	for _, s := range counts.Missed() {
		names = append(names, s.Name)
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("%d of %d situations did not occur: %s", len(names), len(situationLines(counts)), strings.Join(names, ", "))
}

// situationLine is a situation, and how often it occurred.
type situationLine struct {
	situations.Situation
	Times int
}

// situationLines returns the situations that were counted, the rarest first.
func situationLines(counts situations.Counts) (lines []situationLine) {
	for _, s := range situations.All() {
		if n, counted := counts[s.Name]; counted {
			lines = append(lines, situationLine{s, n})
		}
	}
	slices.SortStableFunc(lines, func(a, b situationLine) int { return cmp.Compare(a.Times, b.Times) })
	return lines
}

// SituationTable writes how often each situation occurred, the rarest first.
func SituationTable(w io.Writer, counts situations.Counts) error {
	for _, l := range situationLines(counts) {
		if _, err := fmt.Fprintf(w, "%8d  %s: %s\n", l.Times, l.Name, l.Says); err != nil {
			return err
		}
	}
	return nil
}
