package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// known matches the versions of Go that edits were made for. Toolchains with experiments
// have a suffix, and another runtime.
var known = regexp.MustCompile(`^go1\.26(\.\d+)?$`)

// added is a file of package runtime.
//
//go:embed seeded.go.txt
var added string

// cheapCall matches calls of the thread's cheap generator.
var cheapCall = regexp.MustCompile(`\bcheaprand(n|64)?\(`)

var comment = regexp.MustCompile(`//.*`)

// generate writes the overlay for the Go at goroot to the folder out.
func generate(goroot, version, out string) error {
	if !known.MatchString(version) {
		return fmt.Errorf("no seeded runtime for %s: the edits are made for go1.26 without experiments; read docs/simulation.md, \"A new Go version\"", version)
	}
	src := filepath.Join(goroot, "src")
	files, err := apply(src, version, edits)
	if err != nil {
		return err
	}
	if err := countCheap(src, version, files); err != nil {
		return err
	}
	files["runtime/zkverify_seeded.go"] = added
	return write(src, out, files)
}

// apply returns the changed files, by name below src.
func apply(src, version string, edits []edit) (map[string]string, error) {
	files := map[string]string{}
	for _, e := range edits {
		text, ok := files[e.file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(src, filepath.FromSlash(e.file)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", version, err)
			}
			text = string(b)
		}
		if n := strings.Count(text, e.old); n != e.times {
			return nil, fmt.Errorf("%s: %s has %d times, not %d, the text %q", version, e.file, n, e.times, e.old)
		}
		files[e.file] = strings.ReplaceAll(text, e.old, e.new)
	}
	return files, nil
}

// countCheap fails if package runtime, with the changed files, calls the thread's cheap
// generator where cheap does not say so.
func countCheap(src, version string, changed map[string]string) error {
	names, err := filepath.Glob(filepath.Join(src, "runtime", "*.go"))
	if err != nil {
		return err
	}
	got := map[string]int{}
	for _, name := range names {
		base := filepath.Base(name)
		if strings.HasSuffix(base, "_test.go") {
			continue
		}
		text, ok := changed["runtime/"+base]
		if !ok {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text = string(b)
		}
		if n := len(cheapCall.FindAllString(comment.ReplaceAllString(text, ""), -1)); n > 0 {
			got[base] = n
		}
	}
	if !maps.Equal(got, cheap) {
		for _, base := range slices.Sorted(maps.Keys(got)) {
			if got[base] != cheap[base] {
				return fmt.Errorf("%s: runtime/%s calls cheaprand %d times, not %d", version, base, got[base], cheap[base])
			}
		}
		return fmt.Errorf("%s: package runtime calls cheaprand in %d files, not %d", version, len(got), len(cheap))
	}
	return nil
}

// write writes the files, and overlay.json.
func write(src, out string, files map[string]string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	replace := map[string]string{}
	for name, text := range files {
		name = filepath.FromSlash(name)
		to := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return err
		}
		replace[filepath.Join(src, name)] = to
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "overlay.json"), append(b, '\n'), 0o644)
}
