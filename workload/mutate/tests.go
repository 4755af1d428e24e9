package mutate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/internal/overlay"
)

// Tests are the tests of one package that has mutants, in a program of their own.
type Tests struct {
	Package string   // below the module's folder
	Dir     string   // to run them in
	Program string   // its file
	Names   []string // of its tests, in the order of the source
}

// BuildTests writes the copies of the files to a folder, which it creates, and builds the tests
// of each package with them; with race, which takes cgo, with the race detector.
func (p *Program) BuildTests(ctx context.Context, folder string, race bool) (all []Tests, err error) {
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	file, err := overlay.Write(folder, files)
	if err != nil {
		return nil, err
	}
	args, ending := []string{"test", "-c", "-overlay", file}, ".test"
	if race {
		args, ending = append(args, "-race"), "-race.test"
	}
	for _, k := range p.packages {
		t := Tests{Package: k.name, Dir: filepath.Join(p.Dir, filepath.FromSlash(k.name))}
		t.Program, err = filepath.Abs(filepath.Join(folder, strings.ReplaceAll(k.name, "/", "-")+ending))
		if err != nil {
			return nil, err
		}
		build := exec.CommandContext(ctx, "go", append(slices.Clone(args), "-o", t.Program, "./"+k.name)...)
		build.Dir = p.Dir
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building the tests of %s: %w\n%s", k.name, err, out)
		}
		if _, err := os.Stat(t.Program); errors.Is(err, fs.ErrNotExist) {
			continue // it has no tests
		}
		list := exec.CommandContext(ctx, t.Program, "-test.list", "^Test")
		list.Dir = t.Dir
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("listing the tests of %s: %w", k.name, err)
		}
		for _, name := range strings.Fields(string(out)) {
			if strings.HasPrefix(name, "Test") {
				t.Names = append(t.Names, name)
			}
		}
		all = append(all, t)
	}
	return all, nil
}
