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

	"github.com/zkverify/zkverify/internal/words"
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

// The marks of docs/spec.md: a list of each begins after one and ends before the last.
const (
	switchesMark = "<!-- switches -->\n"
	searchesMark = "<!-- searches -->\n"
	endMark      = "<!-- end of list -->\n"
)

// writePage replaces the lists of a page.
func writePage(page string, all []*model, made []trial) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	for _, list := range []struct{ mark, text string }{
		{switchesMark, switchesList(all)},
		{searchesMark, searchesList(made)},
	} {
		before, rest, found := strings.Cut(string(text), list.mark)
		_, after, closed := strings.Cut(rest, endMark)
		if !found || !closed {
			return fmt.Errorf("%s has no %q with an %q after it", page, strings.TrimSpace(list.mark), strings.TrimSpace(endMark))
		}
		text = []byte(before + list.mark + list.text + endMark + after)
	}
	return os.WriteFile(page, text, 0o644)
}

// switchesList returns the list of the mistakes that are switches of the models.
func switchesList(all []*model) string {
	var b strings.Builder
	for _, m := range all {
		if slices.ContainsFunc(m.switches, toggle.mistake) {
			b.WriteString(heading(m.name))
		}
		for _, t := range m.switches {
			if !t.mistake() {
				continue
			}
			name := t.name
			if t.value != "" {
				name += "=" + t.value
			}
			b.WriteString(item("`" + name + "`: " + t.what))
		}
	}
	return b.String()
}

// searchesList returns the list of the searches, in which those of mistakes, which the list of
// switches describes, are one entry a model. It has no times, since these change from run to run.
func searchesList(made []trial) string {
	var b strings.Builder
	model, mistakes, least, most := "", 0, int64(0), int64(0)
	found := func() {
		if mistakes > 0 {
			b.WriteString(item(fmt.Sprintf("%s for mistakes: each found, after %s to %s", words.Count(mistakes, "search"), thousands(least), thousands(most))))
		}
		mistakes, least, most = 0, math.MaxInt64, 0
	}
	for _, t := range made {
		if t.search.model != model {
			found()
			model = t.search.model
			b.WriteString(heading(model))
		}
		if t.search.mistake() {
			mistakes, least, most = mistakes+1, min(least, t.found.states), max(most, t.found.states)
			continue
		}
		b.WriteString(item(fmt.Sprintf("%s: %s, %s", t.search.name, t.found.result, thousands(t.found.states))))
	}
	found()
	return b.String()
}

func heading(model string) string { return "\n`" + model + ".pml`:\n\n" }

// mistake reports whether the search is for a known mistake.
func (s search) mistake() bool {
	return slices.ContainsFunc(s.switches, func(d string) bool { return strings.HasPrefix(d, "-DBUG_") })
}

// mistake reports whether the switch is a known mistake.
func (t toggle) mistake() bool { return strings.HasPrefix(t.name, "BUG_") }

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
