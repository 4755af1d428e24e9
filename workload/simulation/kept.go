package simulation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkverify/zkverify/workload/folder"
)

// KeptFile is the file in the folder of a kept run that has the data to carry it out again: a
// [Kept] as JSON.
const KeptFile = "run.json"

// Kept describes a run so that it can be carried out again.
type Kept struct {
	// Made names the program that made the run: with another program the same Spec may be
	// another run.
	Made string `json:"made"`
	Spec Spec   `json:"spec"`
	// Until is the time at which the run was ended, 0 if it was not: Look.Until.
	Until time.Duration `json:"until,omitempty"`
	// The result of the run, see Outcome.
	Hash     string   `json:"hash"`
	Exact    bool     `json:"exact"`
	Violated []string `json:"violated,omitempty"`
	// Decided tells when the violation was decided, if that was looked for.
	Decided *Decision `json:"decided,omitempty"`
}

// keep writes KeptFile into the folder of a run.
func (f Fleet) keep(dir string, o Outcome) error {
	return writeKept(dir, Kept{f.Made, o.Spec, f.Look.Until, o.Hash, o.Exact, o.Violated, nil})
}

func writeKept(dir string, k Kept) error {
	return folder.WriteFile(filepath.Join(dir, KeptFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(k)
	})
}

// KeepDecision adds a Decision to the KeptFile of a folder.
func KeepDecision(dir string, d Decision) error {
	k, err := ReadKept(dir)
	if err != nil {
		return err
	}
	k.Decided = &d
	return writeKept(dir, k)
}

// ReadDecision reads the Decision in the KeptFile of a folder, or of the folder of a file; nil if
// there is none.
func ReadDecision(path string) (*Decision, error) {
	var k Kept
	if err := read(path, &k); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return k.Decided, nil
}

// ReadKept reads the KeptFile of a folder, or of the folder of a file. The error is
// fs.ErrNotExist if there is none.
func ReadKept(path string) (k Kept, err error) {
	if err := read(path, &k); err != nil {
		return k, err
	}
	if err := k.Spec.Check(); err != nil {
		return k, fmt.Errorf("%s: %w", filepath.Join(folderOf(path), KeptFile), err)
	}
	return k, nil
}

// folderOf returns a folder, or that of a file.
func folderOf(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return filepath.Dir(path)
	}
	return path
}

func read(path string, k *Kept) error {
	text, err := folder.ReadNamed(folderOf(path), KeptFile, mostKept)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, k); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(folderOf(path), KeptFile), err)
	}
	return nil
}

// mostKept is more bytes than a KeptFile has.
const mostKept = 16 << 20

// IsKept reports whether an error of ReadKept says that there is a KeptFile.
func IsKept(err error) bool { return !errors.Is(err, fs.ErrNotExist) }

// ErrOtherProgram is returned for runs that another program has made.
var ErrOtherProgram = errors.New("made by another program, with which the same seed may be another run")

// SameProgram returns ErrOtherProgram, with the differences, if runs were made by another
// program than the one that is to make more.
func SameProgram(made, now string) error {
	if made == now {
		return nil
	}
	was, is := strings.Split(made, ", "), strings.Split(now, ", ")
	var differs []string
	for i := range max(len(was), len(is)) {
		if a, b := part(was, i), part(is, i); a != b {
			differs = append(differs, fmt.Sprintf("%s then, %s now", a, b))
		}
	}
	return fmt.Errorf("%w: %s", ErrOtherProgram, strings.Join(differs, "; "))
}

func part(parts []string, i int) string {
	if i < len(parts) && parts[i] != "" {
		return parts[i]
	}
	return "not known"
}
