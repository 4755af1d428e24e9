package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/folder"
)

// reportCmd writes a history as a page for a browser.
type reportCmd struct {
	Path string `arg:"" name:"dir-or-file" help:"Folder of a run, or a history file (.jsonl, .jsonl.zst, .edn)."`
	Out  string `help:"The file to write. The default is report.html in the run's folder, or the history's name with .html; with --since none." short:"o" placeholder:"FILE"`
	Conventions
	Since string `help:"Compare this run with an earlier one: verdicts, and which violations are new, gone or still there, causes, faults, figures. Printed, or with --out written as a page that has the pages of both runs side by side. The folder or history of that run; default none." placeholder:"DIR-OR-FILE"`

	Engines engineFlags `embed:"" group:"How it is judged:"`
	Bounds  readFlags   `embed:"" group:"What it may cost:"`
}

func (reportCmd) Help() string {
	return words.WithExamples("Judges the history and writes it as one HTML file that needs no network: the verdicts, what happened around each violation, a timeline to zoom into, latencies, coverage, and what happened to sessions. The exit status is 0 when it was written, whatever the verdict.",
		"zkverify report runs/20260102-150405-zk-lock",
		"zkverify report runs/after --since runs/before",
		"zkverify report runs/after --since runs/before --out fixed.html")
}

func (c *reportCmd) Run(ctx context.Context, con *console) error {
	return c.Bounds.within(ctx, func(ctx context.Context) error { return c.report(ctx, con) })
}

func (c *reportCmd) report(ctx context.Context, con *console) error {
	file, err := historyIn(c.Path)
	if err != nil {
		return err
	}
	if c.Since != "" {
		return c.compare(ctx, con, file)
	}
	again, err := c.Bounds.openLocks(ctx, file, c.as())
	if err != nil {
		return err
	}
	defer again.Close()
	_, verdict, err := c.Engines.judgeAs(ctx, con, file, c.Conventions, c.Bounds)
	if err != nil {
		return err
	}
	out := c.Out
	if out == "" {
		out = pageOf(file)
	}
	start := time.Now()
	if err := folder.WritePage(ctx, out, c.Path, again.Header(), again.Events(), verdict); err != nil {
		return usage("--out: %w", err)
	}
	con.say("written in %s", time.Since(start).Round(time.Millisecond))
	fmt.Fprintln(con.out, out)
	return nil
}

// compare prints the run beside an earlier one, or writes a page with both.
func (c *reportCmd) compare(ctx context.Context, con *console, file string) error {
	earlier, err := historyIn(c.Since)
	if err != nil {
		return err
	}
	var runs [2]report.Judged
	var pages [2]string
	for i, file := range []string{earlier, file} {
		if runs[i].Header, runs[i].Report, err = c.Engines.judgeAs(ctx, con, file, c.Conventions, c.Bounds); err != nil {
			return err
		}
		pages[i] = addressFrom(c.Out, pageOf(file))
	}
	if c.Out == "" {
		return report.Comparison(con.out, runs[0], runs[1], con.style(false))
	}
	if err := folder.WriteFile(c.Out, func(w io.Writer) error { return report.ComparisonPage(w, runs[0], runs[1], pages) }); err != nil {
		return usage("--out: %w", err)
	}
	fmt.Fprintln(con.out, c.Out)
	return nil
}

// addressFrom returns the address of a page on another one, "" if there is no such page.
func addressFrom(other, page string) string {
	from, err := filepath.Abs(filepath.Dir(other))
	to, err2 := filepath.Abs(page)
	if errors.Join(err, err2) != nil {
		return ""
	}
	if info, err := os.Stat(to); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	path, err := filepath.Rel(from, to)
	if err != nil {
		return ""
	}
	return (&url.URL{Path: "./" + filepath.ToSlash(path)}).EscapedPath()
}

// pageOf names the page of a history.
func pageOf(file string) string {
	dir, name := filepath.Split(file)
	stem, _, _ := strings.Cut(name, ".")
	if name == folder.History || name == folder.History+".zst" {
		return dir + folder.Page
	}
	return dir + stem + ".html"
}
