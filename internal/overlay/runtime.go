package overlay

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// known matches the versions of Go that the edits were made for. Toolchains with
// experiments have a suffix, and another runtime.
var known = regexp.MustCompile(`^go1\.26(\.\d+)?$`)

// added is a file of package runtime.
//
//go:embed seeded.go.txt
var added string

// cheapCall matches calls of the thread's cheap generator.
var cheapCall = regexp.MustCompile(`\bcheaprand(n|64)?\(`)

var comment = regexp.MustCompile(`//.*`)

// Runtime returns the files of a seeded runtime for the Go in use, by the path of the file
// that each replaces. Programs are built with them and the tag seeded, and without cgo. The
// error tells why there is none for this Go.
func Runtime(ctx context.Context) (map[string]string, error) {
	goroot, version, err := toolchain(ctx)
	if err != nil {
		return nil, err
	}
	return generate(goroot, version)
}

// toolchain returns the GOROOT and the version of the Go in use.
func toolchain(ctx context.Context) (goroot, version string, err error) {
	stdout, err := exec.CommandContext(ctx, "go", "env", "-json", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return "", "", fmt.Errorf("go env: %w", err)
	}
	var env struct{ GOROOT, GOVERSION string }
	if err := json.Unmarshal(stdout, &env); err != nil {
		return "", "", fmt.Errorf("go env: %w", err)
	}
	return env.GOROOT, strings.TrimSpace(env.GOVERSION), nil
}

// generate returns the files for the Go at goroot.
func generate(goroot, version string) (map[string]string, error) {
	if !known.MatchString(version) {
		return nil, fmt.Errorf("no seeded runtime for %s: the edits are made for go1.26 without experiments; read docs/simulation.md, \"A new Go version\"", version)
	}
	src := filepath.Join(goroot, "src")
	files, err := Apply(src, runtimeEdits)
	if err == nil {
		err = countCheap(src, files)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", version, err)
	}
	files[filepath.Join(src, "runtime", "zkverify_seeded.go")] = added
	return files, nil
}

// countCheap fails if package runtime, with the changed files, calls the thread's cheap
// generator in a place that cheap does not list.
func countCheap(src string, changed map[string]string) error {
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
		text, ok := changed[name]
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
				return fmt.Errorf("runtime/%s calls cheaprand %d times, not %d", base, got[base], cheap[base])
			}
		}
		return fmt.Errorf("package runtime calls cheaprand in %d files, not %d", len(got), len(cheap))
	}
	return nil
}
