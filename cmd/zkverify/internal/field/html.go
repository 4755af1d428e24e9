package field

import (
	_ "embed" // the template
	"html/template"
	"io"
	"path"
	"strings"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/folder"
)

//go:embed field.html.tmpl
var htmlText string

var htmlTemplate = template.Must(template.New("field.html").Funcs(template.FuncMap{
	"class": class,
	"sign":  func(c cell) string { return strings.ReplaceAll(sign(c), "**", "") },
	"join":  strings.Join,
	"count": words.Count[int],
	"report": func(r *Result) string {
		if r.Folder == "" {
			return ""
		}
		return path.Join(r.Folder, folder.Page)
	},
}).Parse(htmlText))

// html writes the tables and the findings as one HTML page that needs no other file.
func (p *page) html(w io.Writer) error {
	style, policy, err := report.Stylesheet()
	if err != nil {
		return err
	}
	return htmlTemplate.Execute(words.Page(w), map[string]any{"Page": p, "Style": template.CSS(style), "Policy": policy})
}

// class returns the CSS class of a cell.
func class(c cell) string {
	switch {
	case c.Violated > 0 && c.Explained:
		return "violated"
	case c.Violated > 0 || c.Other > 0 && c.Held == 0 && c.Promised:
		return "open"
	case c.Held > 0:
		return "holds"
	}
	return "none"
}
