package main

import (
	"context"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/report"
)

// checkCmd judges recorded histories.
type checkCmd struct {
	Paths []string `arg:"" name:"dir-or-file" help:"Folders of runs, or history files (.jsonl, .jsonl.zst, .edn)."`
	Conventions
	JSON    bool `help:"Print the verdicts as JSON instead of tables."`
	Verbose bool `short:"v" help:"Print figures, coverage and all violations on record too."`

	Engines engineFlags `embed:"" group:"How it is judged:"`
	Bounds  readFlags   `embed:"" group:"What it may cost:"`
}

func (checkCmd) Help() string {
	return words.WithExamples("The exit status is that of the worst verdict.",
		"zkverify check runs/20260102-150405-recipes")
}

func (c *checkCmd) Run(ctx context.Context, con *console) error {
	return c.Bounds.within(ctx, func(ctx context.Context) error { return c.check(ctx, con) })
}

func (c *checkCmd) check(ctx context.Context, con *console) error {
	worst := verdict.Holds
	for _, path := range c.Paths {
		file, err := historyIn(path)
		if err != nil {
			return err
		}
		if len(c.Paths) > 1 {
			con.say("%s:", path)
		}
		header, r, err := c.Engines.judgeAs(ctx, con, file, c.Conventions, c.Bounds)
		if err != nil {
			return err
		}
		shown := path
		if m, err := histories.ModelNamed(header.Recipe); err == nil && m.Register {
			shown = "" // zkverify explain takes no histories of registers
		}
		if c.JSON {
			err = report.JSON(con.out, r)
		} else {
			err = report.Terminal(con.out, r, report.Run{Header: header, Path: shown, Args: c.args()}, con.style(c.Verbose))
		}
		if err != nil {
			return err
		}
		worst = verdict.Worse(worst, r.Outcome())
	}
	return outcome(worst)
}
