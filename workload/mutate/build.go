package mutate

import (
	"context"
	"encoding/json"
	"fmt"
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
// the same program.
func (p *Program) Build(ctx context.Context, folder, main string) (string, error) {
	overlay, err := p.write(folder)
	if err != nil {
		return "", err
	}
	program, err := filepath.Abs(filepath.Join(folder, filepath.Base(main)))
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-overlay", overlay, "-o", program, main)
	build.Dir = p.Dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the mutants: %w\n%s", err, out)
	}
	return program, nil
}

// write writes the copies, and returns the file that tells the go command of them.
func (p *Program) write(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
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
