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

// State is the content of the state file in a record's folder.
type State struct {
	Version string    `json:"zkverify"`
	Started time.Time `json:"started"`
	Results []Result  `json:"bugs"`
}

// Result holds the tries of the script of a bug.
type Result struct {
	Bug   string `json:"bug"`
	Tries []Try  `json:"tries"`
}

// last returns the try that counts: the one that caught the bug, or else the last; nil if there is
// none.
func (r *Result) last() *Try {
	if r == nil || len(r.Tries) == 0 {
		return nil
	}
	return &r.Tries[len(r.Tries)-1]
}

// tries counts the tries that are not void.
func (r *Result) tries() (n int) {
	for _, t := range r.Tries {
		if !t.Void {
			n++
		}
	}
	return n
}

// caught reports whether a try has caught the bug.
func (r *Result) caught() bool { return r.last() != nil && r.last().Caught }

// missing names the software that the script needs and that is not installed, "" for none.
func (r *Result) missing() string {
	if r.last() == nil {
		return ""
	}
	return r.last().Missing
}

// load reads the state of a folder. Without a state file it returns an empty state.
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

// save writes the state and the page. Each file is replaced whole or not at all.
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

// begin returns the result of a bug, without the tries that its script cannot continue: those of
// another script, and those that did not take place or were void.
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

// next returns the seed of the next try.
func (r *Result) next() int64 {
	if r.last() == nil {
		return 1
	}
	return r.last().Seed + 1
}
