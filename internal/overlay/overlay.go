// Package overlay builds programs with changed copies of source files (go build -overlay): of
// their own, and of the Go runtime. The files themselves stay as they are.
package overlay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// File is the name of the file, in the folder given to Write, that is passed to go build
// -overlay.
const File = "overlay.json"

// Edit replaces a text of a file.
type Edit struct {
	File     string // with slashes, below the root that is given to Apply
	Old, New string
	Times    int // how often Old occurs in the file; 0 means once
}

// Apply returns the changed text of each file below root that the edits change, by its
// path. The error names the text and the file if the text occurs another number of times.
//
// Each edit is looked up in the original file, so edits do not depend on each other: two
// may change one line, as long as they do not change the same characters. Texts that
// several edits insert at one place come in the order of the edits.
func Apply(root string, edits []Edit) (map[string]string, error) {
	of := map[string][]Edit{}
	for _, e := range edits {
		of[e.File] = append(of[e.File], e)
	}
	files := map[string]string{}
	for name, edits := range of {
		path := filepath.Join(root, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if files[path], err = change(string(text), edits); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// replacement is an edit at one place, without the text that Old and New have in common at
// their ends.
type replacement struct {
	from, to int // in the text
	by       string
}

func change(text string, edits []Edit) (string, error) {
	var all []replacement
	for _, e := range edits {
		times := max(e.Times, 1)
		if n := strings.Count(text, e.Old); n != times {
			return "", fmt.Errorf("%s has %d times, not %d, the text %q", e.File, n, times, e.Old)
		}
		for at := 0; times > 0; times-- {
			at += strings.Index(text[at:], e.Old)
			all = append(all, e.at(at))
			at += len(e.Old)
		}
	}
	slices.SortStableFunc(all, func(a, b replacement) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	done := 0
	for _, r := range all {
		if r.from < done {
			return "", fmt.Errorf("%s: two edits of one place; one of them inserts %q", edits[0].File, r.by)
		}
		out.WriteString(text[done:r.from] + r.by)
		done = r.to
	}
	return out.String() + text[done:], nil
}

func (e Edit) at(at int) replacement {
	before := 0
	for before < min(len(e.Old), len(e.New)) && e.Old[before] == e.New[before] {
		before++
	}
	after := 0
	for after < min(len(e.Old), len(e.New))-before && e.Old[len(e.Old)-1-after] == e.New[len(e.New)-1-after] {
		after++
	}
	return replacement{at + before, at + len(e.Old) - after, e.New[before : len(e.New)-after]}
}

// Write writes files to a folder, which it creates, and beside them the file for go build
// -overlay, whose path it returns. The files are given by the absolute path of the file
// that each replaces or adds.
func Write(folder string, files map[string]string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range files {
		replace[path] = filepath.Join(folder, strings.TrimPrefix(path, filepath.VolumeName(path)))
		if err := os.MkdirAll(filepath.Dir(replace[path]), 0o777); err != nil {
			return "", err
		}
		if err := os.WriteFile(replace[path], []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, File)
	return file, os.WriteFile(file, append(text, '\n'), 0o666)
}

// Program is a program to build.
type Program struct {
	Dir    string            // of its module; default the working directory
	Main   string            // its main package, as an argument of go build
	Files  map[string]string // replaced files, by the absolute path of each
	Seeded bool              // build it on a seeded runtime (package seeded), without cgo
	Flags  []string          // further flags of go build
	Out    string            // the program's file
}

// ErrNoSeededRuntime is wrapped by Build's error when there is no seeded runtime for the Go
// in use.
var ErrNoSeededRuntime = errors.New("there is no seeded runtime for this Go")

// Build writes the changed files to a folder, which it creates, and builds the program. The
// same source makes the same program.
func (p Program) Build(ctx context.Context, folder string) error {
	files, flags, env := maps.Clone(p.Files), p.Flags, os.Environ()
	if p.Seeded {
		runtime, err := Runtime(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("%w: %w", ErrNoSeededRuntime, err)
		}
		if files == nil {
			files = runtime
		}
		maps.Copy(files, runtime)
		// Threads of cgo start when the kernel lets them.
		flags, env = append([]string{"-tags", "seeded"}, flags...), append(env, "CGO_ENABLED=0")
	}
	file, err := Write(folder, files)
	if err != nil {
		return err
	}
	out, err := filepath.Abs(p.Out)
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-overlay", file, "-o", out}, flags, []string{p.Main})...)
	build.Dir, build.Env = p.Dir, env
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", p.Main, err, out)
	}
	return nil
}
