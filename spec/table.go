package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
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

// The marks of docs/spec.md: a table of each begins after one and ends before the last.
const (
	switchesMark = "<!-- switches -->\n"
	searchesMark = "<!-- searches -->\n"
	endMark      = "<!-- end of table -->\n"
)

// writePage replaces the tables of a page.
func writePage(page string, all []*model, made []trial) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	for _, table := range []struct{ mark, text string }{
		{switchesMark, switchesTable(all)},
		{searchesMark, searchesTable(made)},
	} {
		before, rest, found := strings.Cut(string(text), table.mark)
		_, after, closed := strings.Cut(rest, endMark)
		if !found || !closed {
			return fmt.Errorf("%s has no %q with an %q after it", page, strings.TrimSpace(table.mark), strings.TrimSpace(endMark))
		}
		text = []byte(before + table.mark + table.text + endMark + after)
	}
	return os.WriteFile(page, text, 0o644)
}

// switchesTable returns the table of the switches that the models declare.
func switchesTable(all []*model) string {
	var b strings.Builder
	b.WriteString("| model | switch | what it changes |\n| --- | --- | --- |\n")
	for _, m := range all {
		for _, t := range m.switches {
			name := t.name
			if t.value != "" {
				name += "=" + t.value
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s |\n", m.name, name, t.what)
		}
	}
	return b.String()
}

// searchesTable returns the table of the searches. It has no times, since these change from
// run to run.
func searchesTable(made []trial) string {
	var b strings.Builder
	b.WriteString("| model | search | switches | states | result |\n| --- | --- | --- | --- | --- |\n")
	for _, t := range made {
		fmt.Fprintf(&b, "%s %s | %s |\n", rowBegins(t.search), thousands(t.found.states), t.found.result)
	}
	return b.String()
}

// rowBegins returns the cells of a search's row that are known before the search is made.
func rowBegins(s search) string {
	switches := "–"
	if len(s.switches) > 0 {
		switches = "`" + strings.Join(s.switches, " ") + "`"
	}
	return fmt.Sprintf("| %s | %s | %s |", s.model, s.name, switches)
}

// thousands writes a number as 1,234,567.
func thousands(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
