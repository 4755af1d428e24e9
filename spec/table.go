package spec

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// outcome returns the result in a word.
func (t trial) outcome() string {
	if t.found.result == "" {
		return "failed"
	}
	return string(t.found.result)
}

// printTable prints the outcomes of the searches.
func printTable(w io.Writer, made []trial) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "model\tsearch\tswitches\tstates\tseconds\tresult\texpected")
	for _, t := range made {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%.1f\t%s\t%s\n", t.search.model, t.search.name,
			strings.Join(t.search.switches, " "), thousands(t.found.states), t.found.seconds, t.outcome(), t.search.expected())
	}
	return tw.Flush()
}

// The list in docs/spec.md begins after the first mark and ends before the second.
const (
	searchesMark = "<!-- searches -->\n"
	endMark      = "<!-- end of list -->\n"
)

// writePage replaces the list of a page.
func writePage(page string, made []trial) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), searchesMark)
	_, after, closed := strings.Cut(rest, endMark)
	if !found || !closed {
		return fmt.Errorf("%s has no %q with an %q after it", page, strings.TrimSpace(searchesMark), strings.TrimSpace(endMark))
	}
	return os.WriteFile(page, []byte(before+searchesMark+searchesList(made)+endMark+after), 0o644)
}

// searchesList returns the list of the searches. Those for mistakes are one entry a model, with the
// switches, which the head of the model describes. It has no times, since these change from run to
// run.
func searchesList(made []trial) string {
	var b strings.Builder
	for len(made) > 0 {
		model := made[0].search.model
		b.WriteString(heading(model))
		var mistakes []string
		least, most := int64(math.MaxInt64), int64(0)
		for ; len(made) > 0 && made[0].search.model == model; made = made[1:] {
			t := made[0]
			bugs := t.search.mistakes()
			if len(bugs) == 0 {
				b.WriteString(item(fmt.Sprintf("%s: %s, %s", t.search.name, t.found.result, thousands(t.found.states))))
				continue
			}
			least, most = min(least, t.found.states), max(most, t.found.states)
			for _, bug := range bugs {
				if !slices.Contains(mistakes, bug) {
					mistakes = append(mistakes, bug)
				}
			}
		}
		if len(mistakes) > 0 {
			b.WriteString(item(fmt.Sprintf("mistakes, each found, after %s to %s: %s", thousands(least), thousands(most), strings.Join(mistakes, ", "))))
		}
	}
	return b.String()
}

func heading(model string) string { return "\n`" + model + ".pml`:\n\n" }

// mistakes returns the switches of the search that are known mistakes, as the page shows them.
func (s search) mistakes() (names []string) {
	for _, d := range s.switches {
		name, _, _ := strings.Cut(strings.TrimPrefix(d, "-D"), "=")
		if isMistake(name) {
			names = append(names, "`"+name+"`")
		}
	}
	return names
}

// isMistake reports whether the switch of this name is a known mistake.
func isMistake(name string) bool { return strings.HasPrefix(name, "BUG_") }

// item returns an entry of a list, in lines of at most 100 columns.
func item(text string) string {
	var b strings.Builder
	line := "-"
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 100 {
			b.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

// thousands writes a number as 1,234,567.
func thousands(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
