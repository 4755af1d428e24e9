package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

// checkCmd judges recorded histories.
type checkCmd struct {
	Paths []string `arg:"" name:"dir-or-file" help:"Folders of runs, or history files (.jsonl, .jsonl.zst, .edn)."`
	Conventions
	JSON bool `help:"Print the verdicts as JSON instead of tables."`

	Engines engineFlags `embed:"" group:"How it is judged:"`
}

func (checkCmd) Help() string {
	return "Example: zkverify check runs/20260102-150405-recipes\n\nThe exit status is that of the worst verdict."
}

func (c *checkCmd) Run(ctx context.Context, con *console) error {
	worst := checker.Holds
	for _, path := range c.Paths {
		file, err := historyIn(path)
		if err != nil {
			return err
		}
		if len(c.Paths) > 1 {
			con.say("%s:", path)
		}
		header, r, err := c.Engines.judge(ctx, con, file, c.options()...)
		if err != nil {
			return err
		}
		if c.JSON {
			err = report.JSON(con.out, r)
		} else {
			fmt.Fprintln(con.out, describe(header, r))
			err = report.Terminal(con.out, r, con.style())
		}
		if err != nil {
			return err
		}
		worst = worse(worst, r.Outcome())
	}
	return outcome(worst)
}

// historyIn returns the history file at path, or in the folder there.
func historyIn(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", usage("%s: no such file or folder", path)
	case err != nil:
		return "", usageError{err}
	case !info.IsDir():
		return path, nil
	}
	for _, name := range []string{historyFile, historyFile + ".zst", "history.edn"} {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", usage("%s: no %s in this folder", path, historyFile)
}

// describe says in a line what a history is of.
func describe(hd histories.Header, r *checker.Report) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s, seed %d, %d events", hd.Target, hd.Recipe, hd.Seed, r.Events)
	if hd.ZooKeeper != "" {
		fmt.Fprintf(&b, ", %d ZooKeeper servers %s (%s)", hd.Servers, hd.ZooKeeper, hd.Ensemble)
	}
	if !hd.Started.IsZero() {
		fmt.Fprintf(&b, ", %s", hd.Started.Format(time.RFC3339))
	}
	return b.String()
}

// worse returns the outcome that decides the exit status.
func worse(a, b checker.Outcome) checker.Outcome {
	order := map[checker.Outcome]int{checker.Holds: 0, checker.NotJudged: 1, checker.NotExercised: 2, checker.Unknown: 3, checker.Violated: 4}
	if order[b] > order[a] {
		return b
	}
	return a
}
