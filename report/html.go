package report

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

//go:embed page
var files embed.FS

// scripts are the parts of the page's script, in their order.
var scripts = []string{"data.js", "palette.js", "rows.js", "draw.js", "bars.js", "top.js", "why.js", "overlap.js", "servers.js", "describe.js", "legend.js", "pointer.js", "timeline.js", "latency.js", "events.js", "link.js", "find.js", "start.js"}

var pageTemplate = template.Must(template.New("report.tmpl").Funcs(template.FuncMap{
	"clock": func(d time.Duration) string { return fmt.Sprintf("%.6f s", d.Seconds()) },
	"took":  took,
	"count": words.Count[int], "servers": countServers,
	"times": words.Times,
	"add":   func(a, b int) int { return a + b },
}).ParseFS(files, "page/report.tmpl", "page/matrix.tmpl"))

// HTML writes a run as one self-contained page for a browser: the verdicts, each
// violation with the events around it, the run in real time, the latency of operations,
// the states that faults met, and the events of sessions and servers. Events are the
// events of the history that r reports on, in order; HTML returns the first error that
// they yield. Name is the path of the history on a command line.
//
// HTML takes memory in proportion to what the page shows, at most a million bars. When ctx ends,
// HTML returns the cause.
func HTML(ctx context.Context, w io.Writer, name string, header histories.Header, events iter.Seq2[*histories.Event, error], r *checker.Report) error {
	p := newPass(&header, r)
	if err := p.read(ctx, events); err != nil {
		return err
	}
	data, tracks := p.data()
	return viewOf(name, p, r).write(ctx, w, data, tracks)
}

// write writes the page, with the data for its script.
func (page *view) write(ctx context.Context, w io.Writer, data *pageData, tracks []*track) error {
	packed, err := pack(ctx, data, tracks)
	if err != nil {
		return err
	}
	style, script, err := assets()
	if err != nil {
		return err
	}
	page.Style, page.Script, page.Data = template.CSS(style), template.JS(script), template.HTML(packed)
	// Only the script of the page may run, and the page may fetch nothing.
	page.Policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", digest(style), digest(script))
	return pageTemplate.Execute(words.Page(until{ctx, w}), page)
}

// until is a writer that fails once ctx has ended.
type until struct {
	ctx context.Context
	w   io.Writer
}

func (u until) Write(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.w.Write(p)
}

// assets returns the style sheet and the script of the page.
func assets() (style, script string, err error) {
	css, err := files.ReadFile("page/report.css")
	if err != nil {
		return "", "", err
	}
	var js strings.Builder
	js.WriteString("'use strict';\n(() => {\n")
	for _, name := range scripts {
		part, err := files.ReadFile("page/" + name)
		if err != nil {
			return "", "", err
		}
		js.Write(part)
	}
	js.WriteString("})();\n")
	return "\n" + string(css), js.String(), nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Stylesheet returns the style sheet of the pages, and the Content-Security-Policy of a page that
// has this style and no script.
func Stylesheet() (css, policy string, err error) {
	css, _, err = assets()
	return css, fmt.Sprintf("default-src 'none'; style-src '%s'; base-uri 'none'; form-action 'none'", digest(css)), err
}
