package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

// reportFile is the page that a run leaves in its folder.
const reportFile = "report.html"

// reportCmd writes a history as a page for a browser.
type reportCmd struct {
	Path string `arg:"" name:"dir-or-file" help:"Folder of a run, or a history file (.jsonl, .jsonl.zst, .edn)."`
	Out  string `help:"The file to write. The default is report.html in the run's folder, or the history's name with .html." short:"o" placeholder:"FILE"`
	Conventions

	Engines engineFlags `embed:"" group:"How it is judged:"`
}

func (reportCmd) Help() string {
	return "Example: zkverify report runs/20260102-150405-zk-lock\n\nJudges the history and writes it as one HTML file that needs no network: the verdicts, what happened around each violation, a timeline to zoom into, latencies, coverage, and what happened to sessions. The exit status is 0 when it was written, whatever the verdict."
}

func (c *reportCmd) Run(ctx context.Context, con *console) error {
	file, err := historyIn(c.Path)
	if err != nil {
		return err
	}
	_, verdict, err := c.Engines.judge(ctx, con, file, c.options()...)
	if err != nil {
		return err
	}
	out := c.Out
	if out == "" {
		out = pageOf(file)
	}
	start := time.Now()
	if err := writePage(out, c.Path, file, verdict); err != nil {
		return err
	}
	con.say("written in %s", time.Since(start).Round(time.Millisecond))
	fmt.Fprintln(con.out, out)
	return nil
}

// pageOf names the page of a history.
func pageOf(file string) string {
	dir, name := filepath.Split(file)
	stem, _, _ := strings.Cut(name, ".")
	if name == historyFile || name == historyFile+".zst" {
		return dir + reportFile
	}
	return dir + stem + ".html"
}

// writePage reads the history in a file once more and writes its page. Name is
// what the page calls it. Nothing is left of a page that could not be written.
func writePage(out, name, file string, r *checker.Report) (err error) {
	h, err := histories.Open(file)
	if err != nil {
		return usageError{err}
	}
	defer h.Close()
	f, err := os.CreateTemp(filepath.Dir(out), ".page-*")
	if err != nil {
		return usage("--out: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name()) //nolint:errcheck // it is no use any more
		}
	}()
	err = errors.Join(report.HTML(f, name, h.Header(), h.Events(), r), f.Chmod(0o644), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), out)
}

// writeTo creates a file and has it written.
func writeTo(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
