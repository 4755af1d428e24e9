package trackrecord

import (
	_ "embed" // the template
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/zkverify/zkverify/internal/words"
)

//go:embed trackrecord.md.tmpl
var markdownText string

var markdownTemplate = template.Must(template.New(pageFile).Funcs(words.MarkdownFuncs()).Funcs(template.FuncMap{"cell": cell}).Parse(markdownText))

// page holds the data of the page.
type page struct {
	Version string
	Caught  int
	Rows    []row // bugs with a script
	NotHad  []Bug
}

// row is a bug and the result of its script.
type row struct {
	Bug
	Last  *Try // nil if the script has not run
	Tries int
}

func pageOf(r *Record, s *State) page {
	p := page{Version: s.Version}
	for _, b := range r.Bugs {
		if !b.Had() {
			p.NotHad = append(p.NotHad, b)
			continue
		}
		one := row{Bug: b}
		if result := s.of(b); result != nil {
			one.Last, one.Tries = result.last(), result.tries()
			if result.caught() {
				p.Caught++
			}
		}
		p.Rows = append(p.Rows, one)
	}
	return p
}

// write writes the page to w.
func (p page) write(w io.Writer) error { return words.WriteMarkdown(w, markdownTemplate, p) }

// Verdict returns the result of the script in a few words.
func (r row) Verdict() string {
	switch {
	case r.Last == nil:
		return "not tried"
	case r.Last.Missing != "":
		return "not run"
	case r.Last.Caught:
		return words.Markdown(r.Last.Verdict)
	case r.Tries == 0:
		return "not decided"
	}
	return "**escaped**"
}

// Time returns the duration of the try that counts.
func (r row) Time() string {
	if r.Last == nil || r.Last.Missing != "" {
		return ""
	}
	return fmt.Sprintf("%.0f s", r.Last.Took.Seconds())
}

// Shown returns the command that shows the bug without zkverify track-record, "" if there is none.
func (r row) Shown() string {
	if r.Last == nil || r.Last.Command == r.Command() {
		return ""
	}
	return r.Last.Command
}

// Numbered returns the steps of a script with their numbers, one a line.
func (r row) Numbered() string {
	if r.Steps == nil {
		return ""
	}
	var lines []string
	for i, s := range r.Steps.Steps {
		lines = append(lines, fmt.Sprintf("%2d  %s", i+1, s))
	}
	return strings.Join(lines, "\n")
}

// cell returns a text for a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
