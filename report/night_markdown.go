package report

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/internal/words"
)

// Markdown returns a summary of the night for GitHub's summary of a workflow: the outcome,
// each guarantee of each recipe, and each run that did not pass with the command that runs
// it again. The night's folder is dir.
func (n *Night) Markdown(dir string) string {
	var b strings.Builder
	outcome := signs[n.Outcome()]
	fmt.Fprintf(&b, "## %s %s: %s\n\n", outcome.Sign, outcome.Text, words.Markdown(n.Title))
	b.WriteString(n.figures() + "\n\n")
	if why := n.missing(); why != "" {
		fmt.Fprintf(&b, "**%s**\n\n", why)
	}
	if lines := n.causeLines(); len(lines) > 0 {
		b.WriteString("Causes of the failures:\n\n")
		for _, l := range lines {
			fmt.Fprintf(&b, "- %s\n", words.Markdown(l.String()))
		}
		b.WriteString("\n")
	}
	n.table().markdown(&b)
	for _, r := range n.Results {
		if r.Passed() {
			continue
		}
		fmt.Fprintf(&b, "- **seed %d** %s %s\n", r.Seed, signs[r.Outcome].Sign, words.Markdown(r.String()))
		if command := r.Replay(dir); command != "" {
			fmt.Fprintf(&b, "\n  ```\n  %s\n  ```\n", command)
		}
	}
	if empty, of := n.Unmet(); of > 0 {
		fmt.Fprintf(&b, "\n%d of %d combinations of fault, recipe and state did not occur.\n", len(empty), of)
	}
	if told := Missed(n.Situations); told != "" {
		fmt.Fprintf(&b, "\n%s.\n", told)
	}
	return b.String()
}

func (t nightTable) markdown(b *strings.Builder) {
	if len(t.Rows) == 0 {
		return
	}
	b.WriteString("| guarantee |")
	for _, recipe := range t.Recipes {
		fmt.Fprintf(b, " %s |", recipe)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(t.Recipes)) + "\n")
	for _, row := range t.Rows {
		fmt.Fprintf(b, "| %s |", words.Markdown(row.Guarantee))
		for _, cell := range row.Cells {
			var told []string
			for _, c := range cell {
				text := fmt.Sprintf("%s %d", c.Outcome.Sign, len(c.Seeds))
				if runs := c.Runs(); runs != "" {
					text += " (" + words.Markdown(runs) + ")"
				}
				told = append(told, text)
			}
			fmt.Fprintf(b, " %s |", strings.Join(told, ", "))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}
