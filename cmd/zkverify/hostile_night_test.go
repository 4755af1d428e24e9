package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/report"
)

// The hostile text is put into every field of a part of a night, and all output is examined.
func TestWordsOfAPartOfANightPassADoor(t *testing.T) {
	known := make(map[string]bool)
	fieldsOf(reflect.TypeFor[report.Night](), "night", known)
	part := filepath.Join(t.TempDir(), "part")
	partOfNight(t, part, "1/1", 2, "")
	text, err := os.ReadFile(filepath.Join(part, nightlyFile))
	if err != nil {
		t.Fatal(err)
	}
	fill := func() any {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		result := v.(map[string]any)["results"].([]any)[0].(map[string]any)
		result["trouble"], result["zookeeper"], result["voidRuns"] = "trouble", "3.9.9", []any{"void-1"}
		result["folder"] = "seed-1"
		failed := result["cases"].([]any)[0].(map[string]any)
		failed["witnesses"], failed["cause"], failed["also"] = "witness", "cause", []any{"another guarantee"}
		earlier := map[string]any{"what": "cause", "guarantees": []any{"fencing"}, "seeds": []any{1}, "since": "2026-01-01T00:00:00Z"}
		v.(map[string]any)["earlier"] = map[string]any{"started": "2026-01-02T00:00:00Z", "causes": []any{earlier}}
		v.(map[string]any)["situations"] = map[string]any{"fence-refuses": 0}
		return v
	}
	left := maps.Clone(known)
	for field := range known {
		found := false
		v := each(fill(), "night", known, func(path, text string) string {
			if path != field {
				return text
			}
			found = true
			return text + hostile
		})
		if !found {
			continue
		}
		delete(left, field)
		t.Run(field, func(t *testing.T) {
			summary := filepath.Join(t.TempDir(), "summary.md")
			t.Setenv("GITHUB_STEP_SUMMARY", summary)
			dir, out := filepath.Join(t.TempDir(), "part"), filepath.Join(t.TempDir(), "out")
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, nightlyFile), string(text))
			lookAtCommand(t, "nightly", "merge", dir, "--out", out)
			n := new(report.Night)
			if err := errors.Join(json.Unmarshal(text, n), n.Check()); err != nil {
				lookAt(t, "the error", printed(err))
				return
			}
			var page, junit bytes.Buffer
			if err := n.WriteHTML(&page); err != nil {
				t.Fatal(err)
			}
			if err := n.JUnit().Write(&junit); err != nil {
				t.Fatal(err)
			}
			lookAtMarkup(t, "the page", page.String())
			lookAtMarkup(t, "junit.xml", junit.String())
			lookAtMarkdown(t, n.Markdown(out))
			var said bytes.Buffer
			con := (&console{out: &said, err: &said}).behindDoors()
			con.tellNight(out, n)
			lookAt(t, "the summary", said.String())
			for _, r := range n.Results {
				if lines := strings.Count(r.Annotation(), "\n"); lines > 0 {
					t.Errorf("the annotation has %d lines more", lines)
				}
				lookAtLetters(t, "the annotation", r.Annotation())
			}
		})
	}
	for field := range left {
		if !strings.Contains(field, "overage") && !strings.Contains(field, "eetings") {
			t.Errorf("no night has the field %s: let fill add it", field)
		}
	}
}

// lookAtMarkdown reports text that Markdown would take for markup.
func lookAtMarkdown(t *testing.T, text string) {
	t.Helper()
	lookAtLetters(t, "the summary of the step", text)
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			if strings.TrimSpace(line) != "```" {
				t.Errorf("the summary of the step has the fence %q", line)
			}
			continue
		}
		if !fenced {
			lookAtMarkup(t, "the summary of the step", line)
		}
		if strings.HasPrefix(line, "## FORGED") || !fenced && (strings.Contains(line, "](http") && !strings.Contains(line, `\](http`) || strings.Contains(line, " **b**")) {
			t.Errorf("the summary of the step has %q", line)
		}
	}
	if fenced {
		t.Error("a block of the summary of the step does not end")
	}
}
