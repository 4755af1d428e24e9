package main

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/folder"
	"github.com/zkverify/zkverify/workload/simulation"
)

// explainCmd tells a violation in plain words.
type explainCmd struct {
	Path      string `arg:"" name:"dir-or-file" help:"Folder of a run, or a history file (.jsonl, .jsonl.zst, .edn)."`
	Guarantee string `help:"The guarantee whose first violation is to be told. The default is the first one violated." placeholder:"NAME"`
	Conventions
	Picture string    `help:"Write Porcupine's picture of it, an HTML page, to this file; default none." placeholder:"FILE.html"`
	Bounds  readFlags `embed:"" group:"What it may cost:"`
}

func (explainCmd) Help() string {
	return words.WithExamples("",
		"zkverify explain runs/20260102-150405-naive")
}

func (c *explainCmd) Run(ctx context.Context, con *console) error {
	return c.Bounds.within(ctx, func(ctx context.Context) error { return c.explain(ctx, con) })
}

func (c *explainCmd) explain(ctx context.Context, con *console) error {
	file, err := c.Bounds.openLocks(ctx, c.Path, c.as())
	if err != nil {
		return err
	}
	defer file.Close()
	l, err := folder.Service(file.Path(), file.Header())
	if err != nil {
		return usageError{err}
	}
	options := append(c.options(), c.byModels(ctx, file, c.Bounds.most(searches))...)
	history, err := source(file)
	if err != nil {
		return err
	}
	x, err := checker.ExplainEvents(ctx, history, c.Guarantee, append(options, checker.WithService(l))...)
	if errors.Is(err, checker.ErrNotViolated) && c.Guarantee == "" {
		return usage("%s: %w: there is nothing to explain", file.Path(), err)
	}
	if err != nil {
		return refusal(file.Path(), err)
	}
	if err := report.Explanation(con.out, x, con.style(false)); err != nil {
		return err
	}
	c.tellDecision(con, x.Verdict.Guarantee)
	if c.Picture == "" {
		return nil
	}
	return c.draw(ctx, con, x)
}

// tellDecision tells when the violation of a run in virtual time was decided, if that is kept.
func (c *explainCmd) tellDecision(con *console, guarantee string) {
	d, err := simulation.ReadDecision(c.Path)
	switch {
	case err != nil: // the folder may have any file of that name
		con.say("when it was decided cannot be read: %v", err)
	case d != nil && d.Guarantee == guarantee:
		con.tell("\nin the run with fewer faults, in the folder %s beside the history:\n%s", simulation.DecidedFolder, d)
	}
}

// draw writes the picture. If it cannot be drawn, no file is left.
func (c *explainCmd) draw(ctx context.Context, con *console, x *checker.Explanation) error {
	var page bytes.Buffer
	if err := x.Picture(ctx, &page); errors.Is(err, checker.ErrNoPicture) {
		return usage("--picture: %w", err)
	} else if err != nil {
		return err
	}
	if err := folder.WriteFile(c.Picture, func(w io.Writer) error { _, err := page.WriteTo(w); return err }); err != nil {
		return usage("--picture: %w", err)
	}
	con.say("the picture is in %s", c.Picture)
	return nil
}
