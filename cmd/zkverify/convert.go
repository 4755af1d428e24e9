package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/folder"
)

// convertCmd writes a history in another format.
type convertCmd struct {
	Path string `arg:"" name:"dir-or-file" help:"Folder of a run, or a history file (.jsonl, .jsonl.zst, .edn)."`
	Out  string `arg:"" name:"file" help:"The file to write; its ending says how: .jsonl, .edn (Jepsen's) or .porcupine.json (operations for a Porcupine model), each also with .zst."`

	asFlags
	Bounds readFlags `embed:"" group:"What it may cost:"`
}

func (convertCmd) Help() string {
	return words.WithExamples("Nothing is lost between .jsonl and .edn. What .porcupine.json has, docs/histories.md says.",
		"zkverify convert runs/20260102-150405-recipes history.edn")
}

func (c *convertCmd) Run(ctx context.Context, con *console) error {
	name := strings.TrimSuffix(filepath.Base(c.Out), ".zst")
	if !strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".edn") && !strings.HasSuffix(name, ".porcupine.json") {
		return usage("%s: that format is not known; known endings: .jsonl, .edn, .porcupine.json, and each with .zst", c.Out)
	}
	return c.Bounds.within(ctx, func(ctx context.Context) error { return c.convert(ctx, con) })
}

func (c *convertCmd) convert(ctx context.Context, con *console) error {
	file, err := c.Bounds.openLocks(ctx, c.Path, c.as())
	if err != nil {
		return err
	}
	defer file.Close()
	if r := file.Reading(); r != nil && r.Open != "" {
		return usage("%s: %s", file.Path(), r.Open)
	}
	history, err := source(file)
	if err != nil {
		return err
	}
	n := 0
	events := counted(ctx, history.Events, &n)
	if err := folder.WriteFile(c.Out, func(w io.Writer) error { return histories.EncodeAs(w, c.Out, history.Header, events) }); err != nil {
		return usageError{err}
	}
	if note, truncated := file.Truncated(); truncated {
		con.say("the history is cut off: %s", note)
	}
	con.say("%s converted", words.Count(n, "event"))
	return nil
}
