package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zkverify/zkverify/workload/folder"
)

// mostOfState is the largest size of a state file: ten times that of a thousand runs which all
// violate.
const mostOfState = 256 << 20

// Load reads a state file, which may come from others, into state, a pointer, and calls check. It
// leaves state as it is if there is no such file.
func Load(dir, file string, state any, check func() error) error {
	text, err := folder.ReadNamed(dir, file, mostOfState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if err = json.Unmarshal(text, state); err == nil {
			err = check()
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Join(dir, file), err)
		}
	}
	return err
}

// JSON returns a function that writes a state as JSON.
func JSON(state any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(state)
	}
}

// Save writes the files of a folder: the state and pages of it. Each is replaced whole or not at
// all, so that an interrupt loses no results.
func Save(dir string, files map[string]func(io.Writer) error) (err error) {
	for name, write := range files {
		err = errors.Join(err, folder.WriteFile(filepath.Join(dir, name), write))
	}
	return err
}

// Copy copies what a part has kept of a run, a path below its folder from, to the same path below
// to.
func Copy(ctx context.Context, to, from, name string) error {
	part, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer part.Close()
	whole, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer whole.Close()
	return folder.CopyTree(ctx, part, whole, name)
}
