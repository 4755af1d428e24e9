package runs

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

// Judged is what verdict.json of a run's folder says.
type Judged struct {
	Outcome  verdict.Outcome
	Reason   string
	Idle     string // why the faults put nothing to the test, "" if they did
	Verdicts []Verdict
}

// Verdict is that on one guarantee of a run.
type Verdict struct {
	Guarantee string          `json:"guarantee"`
	Outcome   verdict.Outcome `json:"outcome"`
	Promised  bool            `json:"promised"`
	Reason    string          `json:"reason,omitempty"`
	// The rest is of a violation: how many, the words of the first one, and the kinds of
	// faults that may have a part in it.
	Violations int      `json:"violations,omitempty"`
	What       string   `json:"what,omitempty"`
	Faults     []string `json:"faults,omitempty"`
}

// Violated says whether the target has violated the guarantee, and has promised it.
func (v Verdict) Violated() bool { return v.Promised && v.Outcome == verdict.Violated }

// verdictFile is what is read of verdict.json.
type verdictFile struct {
	Outcome  verdict.Outcome `json:"outcome"`
	Reason   string          `json:"reason"`
	Idle     string          `json:"idle"`
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

// Read returns the verdicts of a run's folder. Of a run that is no evidence against its target,
// such as one on a machine that was too busy, no guarantee is violated: it is unknown, for the
// run's reason. The error is fs.ErrNotExist if there are none.
func Read(dir string) (Judged, error) {
	name := filepath.Join(dir, folder.Verdict)
	text, err := os.ReadFile(name)
	if err != nil {
		return Judged{}, err
	}
	var file verdictFile
	if err := json.Unmarshal(text, &file); err != nil {
		return Judged{}, fmt.Errorf("%s: %w", name, err)
	}
	j := Judged{Outcome: file.Outcome, Reason: file.Reason, Idle: file.Idle}
	for _, v := range file.Verdicts {
		one := Verdict{Guarantee: v.Guarantee, Outcome: v.Outcome, Promised: v.Promised, Reason: v.Reason, Violations: v.Total}
		if one.Outcome == verdict.Violated && j.Outcome != verdict.Violated {
			one.Outcome, one.Reason = verdict.Unknown, j.Reason
		}
		if len(v.Witnesses) > 0 {
			one.What, one.Faults = v.Witnesses[0].What, v.Witnesses[0].struck(strings.HasPrefix(v.Guarantee, "no lost update"))
		}
		j.Verdicts = append(j.Verdicts, one)
	}
	return j, nil
}
