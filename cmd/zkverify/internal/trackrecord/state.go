package trackrecord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zkverify/zkverify/workload/folder"
)

// The files of a record's folder.
const (
	stateFile = "track-record.json"
	pageFile  = "track-record.md"
)

// State is what a record's folder holds.
type State struct {
	Version string    `json:"zkverify"`
	Started time.Time `json:"started"`
	Results []Result  `json:"bugs"`
}

// Result is what came of the script of a bug.
type Result struct {
	Bug   string `json:"bug"`
	Tries []Try  `json:"tries"`
}

// last is the try that counts: the one that caught the bug, or else the last; nil if there is none.
func (r *Result) last() *Try {
	if r == nil || len(r.Tries) == 0 {
		return nil
	}
	return &r.Tries[len(r.Tries)-1]
}

// tries counts those that show something.
func (r *Result) tries() (n int) {
	for _, t := range r.Tries {
		if !t.Void {
			n++
		}
	}
	return n
}

// caught says whether a try has caught the bug.
func (r *Result) caught() bool { return r.last() != nil && r.last().Caught }

// missing is what the script needs and is not there, "" for nothing.
func (r *Result) missing() string {
	if r.last() == nil {
		return ""
	}
	return r.last().Missing
}

// load reads the state of a folder, which is empty if there is none.
func load(dir string) (*State, error) {
	name := filepath.Join(dir, stateFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return new(State), nil
	}
	if err != nil {
		return nil, err
	}
	s := new(State)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// save writes the state and the page, each whole or not at all.
func (s *State) save(dir string, r *Record) error {
	return errors.Join(
		folder.WriteFile(filepath.Join(dir, stateFile), s.json),
		folder.WriteFile(filepath.Join(dir, pageFile), func(w io.Writer) error { return pageOf(r, s).write(w) }))
}

func (s *State) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(s)
}

// of returns the result of a bug, nil if there is none.
func (s *State) of(b Bug) *Result {
	i := slices.IndexFunc(s.Results, func(r Result) bool { return r.Bug == b.ID })
	if i < 0 {
		return nil
	}
	return &s.Results[i]
}

// begin drops what a bug's script cannot go on with: tries of another script, and those that
// lacked something or showed nothing.
func (s *State) begin(b Bug) *Result {
	r := s.of(b)
	if r == nil {
		s.Results = append(s.Results, Result{Bug: b.ID})
		return &s.Results[len(s.Results)-1]
	}
	r.Tries = slices.DeleteFunc(r.Tries, func(t Try) bool {
		return t.Missing != "" || t.Void || t.Command != command(b, t.Seed)
	})
	return r
}

// next is the seed of the next try.
func (r *Result) next() int64 {
	if r.last() == nil {
		return 1
	}
	return r.last().Seed + 1
}
