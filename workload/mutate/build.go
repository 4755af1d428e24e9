package mutate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
)

// The environment of a program that Build has made.
const (
	// EnvMutant holds the number of the mutant that is on. None is on without it, and
	// with Probe.
	EnvMutant = "ZKVERIFY_MUTANT"
	// EnvReached names a file to which the program adds a line with the number of the
	// mutant that is on when its changed code is first reached, and with Probe the
	// number of each mutant whose changed code would have been.
	EnvReached = "ZKVERIFY_MUTANT_REACHED"
)

// Probe is EnvMutant for a run that shows which mutants can make a difference.
const Probe = -1

// Build writes the copies of the files to a folder, which it makes, and builds a main
// package of the module with them. The program's file is returned. The same source makes
// the same program. With seeded its Go runtime is that of zkverify-sim, which the module
// must have; the error is ErrNoSeededRuntime if there is none for the Go in use.
func (p *Program) Build(ctx context.Context, folder, main string, seeded bool) (string, error) {
	also := map[string]string{}
	flags, env := []string{}, os.Environ()
	if seeded {
		var err error
		if also, err = p.seededRuntime(ctx, filepath.Join(folder, "runtime")); err != nil {
			return "", err
		}
		// As make build-sim does.
		flags, env = append(flags, "-trimpath", "-tags", "seeded"), append(env, "CGO_ENABLED=0")
	}
	overlay, err := p.write(folder, also)
	if err != nil {
		return "", err
	}
	program, err := filepath.Abs(filepath.Join(folder, filepath.Base(main)))
	if err != nil {
		return "", err
	}
	args := append([]string{"build", "-buildvcs=false", "-overlay", overlay, "-o", program}, flags...)
	build := exec.CommandContext(ctx, "go", append(args, main)...)
	build.Dir, build.Env = p.Dir, env
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the mutants: %w\n%s", err, out)
	}
	return program, nil
}

// ErrNoSeededRuntime is wrapped by Build's error when there is no seeded runtime for the Go
// in use.
var ErrNoSeededRuntime = errors.New("there is no seeded runtime for this Go")

// seededRuntime writes the files of a seeded runtime to a folder, and returns which files of
// the Go in use they replace.
func (p *Program) seededRuntime(ctx context.Context, folder string) (map[string]string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	generate := exec.CommandContext(ctx, "go", "run", "./internal/seeded/overlay", "-o", folder)
	generate.Dir = p.Dir
	if out, err := generate.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%w: %s", ErrNoSeededRuntime, out)
	}
	text, err := os.ReadFile(filepath.Join(folder, "overlay.json"))
	if err != nil {
		return nil, err
	}
	var overlay struct{ Replace map[string]string }
	err = json.Unmarshal(text, &overlay)
	return overlay.Replace, err
}

// write writes the copies, and returns the file that tells the go command of them and of the
// others that are replaced.
func (p *Program) write(folder string, also map[string]string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	replace := maps.Clone(also)
	for _, k := range p.packages {
		texts, err := k.texts(func(i int) int { return k.numbers[i] })
		if err != nil {
			return "", err
		}
		for i, text := range texts {
			at := filepath.Join(folder, "source", filepath.FromSlash(k.fileName(i)))
			if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
				return "", err
			}
			if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
				return "", err
			}
			replace[filepath.Join(p.Dir, filepath.FromSlash(k.fileName(i)))] = at
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o666)
}
