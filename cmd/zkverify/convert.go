package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/help"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// convertCmd writes a history in another format.
type convertCmd struct {
	Path string `arg:"" name:"dir-or-file" help:"Folder of a run, or a history file (.jsonl, .jsonl.zst, .edn)."`
	Out  string `arg:"" name:"file" help:"The file to write; its ending says how: .jsonl, .edn (Jepsen's) or .porcupine.json (operations for a Porcupine model), each also with .zst."`
}

func (convertCmd) Help() string {
	return help.WithExamples("Nothing is lost between .jsonl and .edn. What .porcupine.json has, docs/histories.md says.",
		"zkverify convert runs/20260102-150405-recipes history.edn")
}

func (c *convertCmd) Run(_ context.Context, con *console) error {
	name := strings.TrimSuffix(filepath.Base(c.Out), ".zst")
	if !strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".edn") && !strings.HasSuffix(name, ".porcupine.json") {
		return usage("%s: nobody knows that format; known endings: .jsonl, .edn, .porcupine.json, and each with .zst", c.Out)
	}
	_, h, err := readHistory(c.Path)
	if err != nil {
		return err
	}
	if h.Truncated {
		con.say("the history is cut off: %s", h.Note)
	}
	if err := histories.WriteFile(c.Out, h); err != nil {
		return usageError{err}
	}
	con.say("%s converted", words.Count(len(h.Events), "event"))
	return nil
}
