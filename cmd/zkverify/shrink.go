package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/folder"
)

// shrinkCmd writes the smallest part of a history that still violates.
type shrinkCmd struct {
	Path      string `arg:"" name:"dir-or-file" help:"Folder of a run, or a history file (.jsonl, .jsonl.zst, .edn)."`
	Guarantee string `help:"The guarantee whose first violation is to stay. The default is the first one violated." placeholder:"NAME"`
	Conventions
	Out    string    `help:"The file to write. The default is the history's name with .small before its extension." short:"o" placeholder:"FILE"`
	Bounds readFlags `embed:"" group:"What it may cost:"`
}

func (shrinkCmd) Help() string {
	return words.WithExamples("The result is a history: check, explain and shrink take it. Of first node it is judged together with the service.jsonl of the run, which is copied beside it. The exit status is 0 when it was written.",
		"zkverify shrink runs/20260102-150405-naive")
}

func (c *shrinkCmd) Run(ctx context.Context, con *console) error {
	return c.Bounds.within(ctx, func(ctx context.Context) error { return c.shrink(ctx, con) })
}

func (c *shrinkCmd) shrink(ctx context.Context, con *console) error {
	file, err := c.Bounds.openLocks(ctx, c.Path, c.as())
	if err != nil {
		return err
	}
	defer file.Close()
	out := c.Out
	if out == "" {
		out = small(file.Path())
	}
	l, err := folder.Service(file.Path(), file.Header())
	if err != nil {
		return usageError{err}
	}
	options := append(c.options(), c.byModels(ctx, file, c.Bounds.most(searches))...)
	history, err := source(file)
	if err != nil {
		return err
	}
	events := 0
	history.Events = counted(ctx, history.Events, &events)
	start := time.Now()
	small, err := checker.ShrinkEvents(ctx, history, c.Guarantee, nil, append(options, checker.WithService(l))...)
	if err != nil {
		return refusal(file.Path(), err)
	}
	if small.Header.Shrunk.Guarantee == checker.FirstNode {
		if err := folder.KeepService(out, small.Header, l); err != nil {
			return usage("--out: %w", err)
		}
	}
	left := checker.SourceOf(small)
	if err := folder.WriteFile(out, func(w io.Writer) error { return histories.EncodeAs(w, out, left.Header, left.Events) }); err != nil {
		return usage("--out: %w", err)
	}
	con.say("%d events of %d left after %s", len(small.Events), events, time.Since(start).Round(time.Millisecond))
	fmt.Fprintln(con.out, out)
	return nil
}

// counted returns events, and sets n to their number each time they are iterated. They end with
// ctx, and its cause.
func counted(ctx context.Context, events iter.Seq2[*histories.Event, error], n *int) iter.Seq2[*histories.Event, error] {
	return func(yield func(*histories.Event, error) bool) {
		*n = 0
		for e, err := range events {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			if err == nil {
				*n++
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// small returns the default name of the result, after that of the history.
func small(file string) string {
	dir, name := filepath.Split(file)
	stem, extension, _ := strings.Cut(name, ".")
	return dir + stem + ".small." + strings.TrimSuffix(strings.TrimSuffix(extension, ".zst"), ".gz")
}
