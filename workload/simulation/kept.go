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

// KeptFile is in the folder of a run that was kept, and has what it takes to carry it out
// again: a [Kept] as JSON.
const KeptFile = "run.json"

// Kept is a run as it is carried out again.
type Kept struct {
	// Made says which program made it: the same Spec may be another run with another.
	Made string `json:"made"`
	Spec Spec   `json:"spec"`
	// Until is when it was ended, 0 if it was not: Look.Until.
	Until time.Duration `json:"until,omitempty"`
	// What came of it, see Outcome.
	Hash     string   `json:"hash"`
	Exact    bool     `json:"exact"`
	Violated []string `json:"violated,omitempty"`
}

// keep writes KeptFile into the folder of a run.
func (f Fleet) keep(dir string, o Outcome) error {
	return folder.WriteFile(filepath.Join(dir, KeptFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(Kept{f.Made, o.Spec, f.Look.Until, o.Hash, o.Exact, o.Violated})
	})
}

// ReadKept reads what a folder, or that of a file, has of a run in virtual time. An error is
// fs.ErrNotExist if it has none.
func ReadKept(path string) (k Kept, err error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	file := filepath.Join(path, KeptFile)
	text, err := os.ReadFile(file)
	if err != nil {
		return k, err
	}
	if err := json.Unmarshal(text, &k); err != nil {
		return k, fmt.Errorf("%s: %w", file, err)
	}
	if err := k.Spec.Check(); err != nil {
		return k, fmt.Errorf("%s: %w", file, err)
	}
	return k, nil
}

// IsKept reports whether an error of ReadKept says that there is something.
func IsKept(err error) bool { return !errors.Is(err, fs.ErrNotExist) }

// ErrOtherProgram is returned for runs that another program has made.
var ErrOtherProgram = errors.New("made by another program, with which the same seed may be another run")

// SameProgram returns ErrOtherProgram, with what differs, if runs were not made by the
// program that is to make more.
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
