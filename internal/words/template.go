package words

import (
	"io"
	"strings"
	"text/template"
)

// markdownColumns is the length at which lines of text wrap.
const markdownColumns = 100

// MarkdownFuncs returns the functions of the templates of Markdown pages: text for words that are
// data, wrap for a paragraph, code for a block, command for inline code, bars for the line below
// the head of a table, join and count.
func MarkdownFuncs() template.FuncMap {
	return template.FuncMap{
		"text":    Markdown,
		"command": Code,
		"bars":    func(n int) string { return strings.Repeat(" --- |", n) },
		"wrap": func(text string) string {
			return strings.Join(Wrap(strings.Join(strings.Fields(text), " "), markdownColumns), "\n")
		},
		"code":  func(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") },
		"join":  strings.Join,
		"count": Count[int],
	}
}

// WriteMarkdown executes a template, and writes the page to w without blanks at the ends of lines.
// It returns the error of the template or of w.
func WriteMarkdown(w io.Writer, t *template.Template, page any) error {
	var text strings.Builder
	if err := t.Execute(&text, page); err != nil {
		return err
	}
	lines := strings.Split(text.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	_, err := io.WriteString(Page(w), strings.TrimSpace(strings.Join(lines, "\n"))+"\n")
	return err
}
