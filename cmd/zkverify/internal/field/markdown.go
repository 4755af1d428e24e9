package field

import (
	_ "embed" // the template
	"fmt"
	"io"
	"text/template"

	"github.com/zkverify/zkverify/internal/words"
)

//go:embed field.md.tmpl
var markdownText string

var markdownTemplate = template.Must(template.New("field.md").Funcs(words.MarkdownFuncs()).Funcs(template.FuncMap{"sign": sign}).Parse(markdownText))

// markdown writes the tables and the findings as Markdown.
func (p *page) markdown(w io.Writer) error { return words.WriteMarkdown(w, markdownTemplate, p) }

// sign returns a cell as a short text for a table.
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
