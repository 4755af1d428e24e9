package trackrecord

import (
	"io"
	"slices"
	"time"

	"github.com/zkverify/zkverify/workload/campaign"
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

// over reports whether the last try leaves nothing to try: it caught the bug, or could not show
// anything.
func (r *Result) over() bool {
	return r.caught() || r.missing() != "" || r.last() != nil && r.last().Void
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
	s := new(State)
	return s, campaign.Load(dir, stateFile, s, func() error { return nil })
}

// save writes the state and the page.
func (s *State) save(dir string, r *Record) error {
	return campaign.Save(dir, map[string]func(io.Writer) error{stateFile: campaign.JSON(s), pageFile: pageOf(r, s).write})
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
