package spec

import (
	"fmt"
	"io"
	"os"
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

// switchesList returns the list of the switches that the models declare.
func switchesList(all []*model) string {
	var b strings.Builder
	for _, m := range all {
		b.WriteString(heading(m.name))
		for _, t := range m.switches {
			name := t.name
			if t.value != "" {
				name += "=" + t.value
			}
			b.WriteString(item("`" + name + "`: " + t.what))
		}
	}
	return b.String()
}

// searchesList returns the list of the searches. It has no times, since these change from
// run to run.
func searchesList(made []trial) string {
	var b strings.Builder
	model := ""
	for _, t := range made {
		if t.search.model != model {
			model = t.search.model
			b.WriteString(heading(model))
		}
		b.WriteString(item(fmt.Sprintf("%s: %s, %s", title(t.search), t.found.result, thousands(t.found.states))))
	}
	return b.String()
}

func heading(model string) string { return "\n`" + model + ".pml`:\n\n" }

// title returns the name of a search and its switches; the switches alone where one of them is a
// mistake, which the list of switches describes.
func title(s search) string {
	switches := "`" + strings.Join(s.switches, " ") + "`"
	switch {
	case len(s.switches) == 0:
		return s.name
	case strings.Contains(switches, "-DBUG_"):
		return switches
	}
	return s.name + ", " + switches
}

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
