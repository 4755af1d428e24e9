package mutate

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/zkverify/zkverify/internal/overlay"
)

// The environment variables of a program of Build.
const (
	// EnvMutant holds the number of the mutant that is on. No mutant is on if it is not set, or
	// is Probe.
	EnvMutant = "ZKVERIFY_MUTANT"
	// EnvReached names a file to which the program adds a line with the number of the mutant
	// that is on when its changed code is first reached. With Probe it adds the number of each
	// mutant whose changed code would have been reached.
	EnvReached = "ZKVERIFY_MUTANT_REACHED"
)

// Probe is the value of EnvMutant for a run that shows which mutants can make a difference.
const Probe = -1

// Build writes the copies of the files to a folder, which it creates, and builds a main package
// of the module with them. It returns the program's file. The same source makes the same
// program. With seeded its Go runtime is that of zkverify-sim; the error is
// overlay.ErrNoSeededRuntime if there is none for the Go in use.
func (p *Program) Build(ctx context.Context, folder, main string, seeded bool) (string, error) {
	files, err := p.files()
	if err != nil {
		return "", err
	}
	program, err := filepath.Abs(filepath.Join(folder, filepath.Base(main)))
	if err != nil {
		return "", err
	}
	build := overlay.Program{Dir: p.Dir, Main: main, Files: files, Seeded: seeded, Flags: []string{"-buildvcs=false", "-trimpath"}, Out: program}
	if err := build.Build(ctx, folder); err != nil {
		return "", fmt.Errorf("the mutants: %w", err)
	}
	return program, nil
}

// files returns the copies of the source files, by the path of the file that each replaces.
func (p *Program) files() (map[string]string, error) {
	files := map[string]string{}
	for _, k := range p.packages {
		texts, err := k.texts(func(i int) int { return k.numbers[i] })
		if err != nil {
			return nil, err
		}
		for i, text := range texts {
			files[filepath.Join(p.Dir, filepath.FromSlash(k.fileName(i)))] = text
		}
	}
	return files, nil
}
