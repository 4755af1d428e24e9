package field

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/workload/folder"
)

// Result is what came of a run.
type Result struct {
	Lock    string `json:"lock"`
	Plan    string `json:"plan"`
	Seed    int64  `json:"seed"`
	Command string `json:"command"`

	Started time.Time       `json:"started"`
	Took    time.Duration   `json:"took_ns"`
	Outcome verdict.Outcome `json:"outcome,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	// Missing says why the run did not take place, such as a library that is not installed.
	Missing  string    `json:"missing,omitempty"`
	Verdicts []Verdict `json:"verdicts,omitempty"`
	// Folder is what was kept of the run, "" for nothing.
	Folder string `json:"folder,omitempty"`
	// Again has how often a violation came back when the run was repeated.
	Again []Repeats `json:"again,omitempty"`
}

// Verdict is that on one guarantee of a run.
type Verdict struct {
	Guarantee string          `json:"guarantee"`
	Outcome   verdict.Outcome `json:"outcome"`
	Promised  bool            `json:"promised"`
	Reason    string          `json:"reason,omitempty"`
	// The rest is of a violation: how many, the words of the first one, the kinds of faults
	// that may have a part in it, and the shortest part of the history that still has it, in words.
	Violations int      `json:"violations,omitempty"`
	What       string   `json:"what,omitempty"`
	Faults     []string `json:"faults,omitempty"`
	Story      string   `json:"story,omitempty"`
	Events     int      `json:"events,omitempty"` // of the shortest part
}

// Repeats is how often a violation of a guarantee came back.
type Repeats struct {
	Guarantee string `json:"guarantee"`
	Came      int    `json:"came"`
	Of        int    `json:"of"`
}

// cameBack is how often of each time that the run was repeated a guarantee was violated
// again, 0 if it never was.
func (r *Result) cameBack(guarantee string) float64 {
	for _, a := range r.Again {
		if a.Guarantee == guarantee && a.Of > 0 {
			return float64(a.Came) / float64(a.Of)
		}
	}
	return 0
}

// violated returns the guarantees that the run has violated.
func (r *Result) violated() (all []*Verdict) {
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Promised && v.Outcome == verdict.Violated {
			all = append(all, v)
		}
	}
	return all
}

// verdictFile is what is read of verdict.json.
type verdictFile struct {
	Outcome  verdict.Outcome `json:"outcome"`
	Reason   string          `json:"reason"`
	Verdicts []struct {
		Guarantee string          `json:"guarantee"`
		Outcome   verdict.Outcome `json:"outcome"`
		Promised  bool            `json:"promised"`
		Reason    string          `json:"reason"`
		Total     int             `json:"violations"`
		Witnesses []witness       `json:"witnesses"`
	} `json:"verdicts"`
}

// witness is what is read of a violation. Times are in ns.
type witness struct {
	What    string `json:"what"`
	Parties []struct {
		Process int   `json:"process"`
		From    int64 `json:"from"`
	} `json:"parties"`
	Faults []struct {
		Name      string `json:"name"`
		Processes []int  `json:"processes"`
		From      int64  `json:"from"`
		To        *int64 `json:"to"`
	} `json:"faults"`
}

// lasts is how long a fault may show after its end: for two session timeouts of the default.
const lasts = 4 * time.Second

// struck returns the kinds of the faults that may have a part in the violation: those that
// were in force since a party began to hold or to wait, or shortly before, of clients only
// those that struck that party. The parties of a lost update are its writes, and what made
// them possible was before.
func (w witness) struck(writes bool) (names []string) {
	for _, f := range w.Faults {
		part := len(w.Parties) == 0
		for _, p := range w.Parties {
			mine := len(f.Processes) == 0 || slices.Contains(f.Processes, p.Process)
			part = part || mine && (writes || f.To == nil || *f.To >= p.From-int64(lasts))
		}
		if part && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// read takes the verdicts of a run's folder. The error is fs.ErrNotExist if it has none.
func (r *Result) read(dir string) error {
	name := filepath.Join(dir, folder.Verdict)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var file verdictFile
	if err := json.Unmarshal(text, &file); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.Outcome, r.Reason = file.Outcome, file.Reason
	for _, v := range file.Verdicts {
		one := Verdict{Guarantee: v.Guarantee, Outcome: v.Outcome, Promised: v.Promised, Reason: v.Reason, Violations: v.Total}
		if len(v.Witnesses) > 0 {
			one.What, one.Faults = v.Witnesses[0].What, v.Witnesses[0].struck(strings.HasPrefix(v.Guarantee, "no lost update"))
		}
		r.Verdicts = append(r.Verdicts, one)
	}
	return nil
}
