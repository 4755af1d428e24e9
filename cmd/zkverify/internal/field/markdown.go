package field

import (
	_ "embed" // the template
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/zkverify/zkverify/internal/words"
)

//go:embed field.md.tmpl
var markdownText string

// markdownColumns is the length of a line of text.
const markdownColumns = 100

var markdownTemplate = template.Must(template.New("field.md").Funcs(template.FuncMap{
	"sign": sign,
	"bars": func(n int) string { return strings.Repeat(" --- |", n) },
	"wrap": func(text string) string {
		return strings.Join(words.Wrap(strings.Join(strings.Fields(text), " "), markdownColumns), "\n")
	},
	"code":  func(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") },
	"join":  strings.Join,
	"count": words.Count[int],
}).Parse(markdownText))

// markdown writes the tables and the findings as Markdown.
func (p *page) markdown(w io.Writer) error {
	var text strings.Builder
	if err := markdownTemplate.Execute(&text, p); err != nil {
		return err
	}
	lines := strings.Split(text.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	_, err := io.WriteString(w, strings.TrimSpace(strings.Join(lines, "\n"))+"\n")
	return err
}

// sign is a cell of a table, short.
func sign(c cell) string {
	switch {
	case c.Violated > 0 && !c.Explained:
		return fmt.Sprintf("**✗** %d/%d, not explained", c.Violated, c.Violated+c.Held)
	case c.Violated > 0:
		return fmt.Sprintf("**✗** %d/%d", c.Violated, c.Violated+c.Held)
	case c.Held > 0:
		return fmt.Sprintf("✓ %d", c.Held)
	case c.Other > 0 && c.Promised:
		return "?"
	case c.Other > 0:
		return "–"
	}
	return ""
}
