package field

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"time"

	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/folder"
)

// The files of a field's folder.
const (
	stateFile    = "field.json"
	countsFile   = "counts.json"
	markdownFile = "field.md"
	pageFile     = "index.html"
	runsFolder   = "runs"
	againFolder  = "again"
)

// State is the content of the state file in a field's folder.
type State struct {
	Version string    `json:"zkverify"`
	Started time.Time `json:"started"`
	Results []Result  `json:"results"`
}

// load reads the state of a folder. Without a state file it returns an empty state.
func load(dir string) (*State, error) {
	s := new(State)
	return s, campaign.Load(dir, stateFile, s, s.checkFolders)
}

// checkFolders returns an error unless the folders of all results differ, and lie directly below
// that of runs: folders that a part names may be copied, and removed.
func (s *State) checkFolders() error {
	seen := make(map[string]bool)
	for _, r := range s.Results {
		if r.Folder == "" {
			continue
		}
		below, name := path.Split(filepath.ToSlash(r.Folder))
		if below != runsFolder+"/" {
			return fmt.Errorf("%q is not a folder right below %s", r.Folder, runsFolder)
		}
		if err := folder.Named(name); err != nil {
			return err
		}
		if seen[r.Folder] {
			return fmt.Errorf("%q is named twice", r.Folder)
		}
		seen[r.Folder] = true
	}
	return nil
}

// save writes the state and the pages.
func (s *State) save(dir string, f *Field) error {
	page := pageOf(f, s)
	return campaign.Save(dir, map[string]func(io.Writer) error{stateFile: campaign.JSON(s), countsFile: page.counts, markdownFile: page.markdown, pageFile: page.html})
}

// left returns the runs that have not taken place yet.
func (s *State) left(runs []planned) (left []planned, err error) {
	for _, p := range runs {
		r := s.of(p)
		switch {
		case r == nil:
			left = append(left, p)
		case r.Command != p.Command():
			return nil, fmt.Errorf("it holds results of other commands, such as %q where this field has %q: choose another folder", r.Command, p.Command())
		case r.Missing != "":
			left = append(left, p)
		}
	}
	return left, nil
}

func (s *State) of(p planned) *Result {
	for i, r := range s.Results {
		if p.is(r) {
			return &s.Results[i]
		}
	}
	return nil
}

// put adds a result, in the place of an older one of the same run.
func (s *State) put(p planned, r Result) {
	if old := s.of(p); old != nil {
		*old = r
		return
	}
	s.Results = append(s.Results, r)
}

// shown returns the violation to show among those for which the predicate is true, and its run.
// Both are nil if there is none.
func (s *State) shown(is func(*Result, Verdict) bool) (best *Result, of *Verdict) {
	for i := range s.Results {
		r := &s.Results[i]
		for _, v := range r.violated() {
			if is(r, *v) && shownBefore(r, v, best, of) {
				best, of = r, v
			}
		}
	}
	return best, of
}

// shownBefore reports whether v, a violation in the run r, is shown rather than another one, which
// is nil for none. The violation is shown that came back more often when its run was repeated; if
// they are equal, the one whose run was repeated; then the shorter one.
func shownBefore(r *Result, v *Verdict, best *Result, of *Verdict) bool {
	return of == nil || cmp.Or(
		cmp.Compare(best.cameBack(of.Guarantee), r.cameBack(v.Guarantee)),
		cmp.Compare(min(len(best.Again), 1), min(len(r.Again), 1)),
		cmp.Compare(v.Events, of.Events)) < 0
}
