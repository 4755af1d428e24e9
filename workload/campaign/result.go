package campaign

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

// Result is the result of a run that zkverify was started for.
type Result struct {
	Seed    int64         `json:"seed"`
	Command string        `json:"command"`
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took_ns"`
	// Outcome, Reason and Idle are those of the run's verdict: Idle is the reason why the faults put
	// nothing to the test, such as that none started, "" if they did.
	Outcome verdict.Outcome `json:"outcome,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Idle    string          `json:"idle,omitempty"`
	// Missing is the reason why the run did not take place, such as a library that is not
	// installed.
	Missing string `json:"missing,omitempty"`
}

// Verdict is the verdict on one guarantee of a run.
type Verdict struct {
	Guarantee string          `json:"guarantee"`
	Outcome   verdict.Outcome `json:"outcome"`
	Promised  bool            `json:"promised"`
	Reason    string          `json:"reason,omitempty"`
	// The other fields describe a violation: the number of violations, the text of the first
	// one, and the kinds of faults that may have a part in it.
	Violations int      `json:"violations,omitempty"`
	What       string   `json:"what,omitempty"`
	Faults     []string `json:"faults,omitempty"`
}

// Violated reports whether the target has promised the guarantee and violated it.
func (v Verdict) Violated() bool { return v.Promised && v.Outcome == verdict.Violated }

// verdictFile holds the fields of verdict.json that are read.
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

// witness holds the fields of a violation that are read. Times are in ns.
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

// lasts is the time for which a fault may have effects after its end: two default session
// timeouts.
const lasts = 4 * time.Second

// struck returns the kinds of the faults that may have a part in the violation: those that
// were in force since a party began to hold or to wait, or shortly before. A fault of clients
// counts only if it struck that party. With writes, the parties are the writes of a lost
// update, whose cause came before them: then the end of a fault does not matter.
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

// Read sets the outcome to that in a run's folder, and returns the verdicts. If the run is no
// evidence against its target, such as one on a machine that was too busy, violated guarantees
// become unknown, with the run's reason. The error is fs.ErrNotExist if the folder has no verdicts.
func (r *Result) Read(dir string) (all []Verdict, err error) {
	name := filepath.Join(dir, folder.Verdict)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var file verdictFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r.Outcome, r.Reason, r.Idle = file.Outcome, file.Reason, file.Idle
	for _, v := range file.Verdicts {
		one := Verdict{Guarantee: v.Guarantee, Outcome: v.Outcome, Promised: v.Promised, Reason: v.Reason, Violations: v.Total}
		if one.Outcome == verdict.Violated && r.Outcome != verdict.Violated {
			one.Outcome, one.Reason = verdict.Unknown, r.Reason
		}
		if len(v.Witnesses) > 0 {
			one.What, one.Faults = v.Witnesses[0].What, v.Witnesses[0].struck(strings.HasPrefix(v.Guarantee, "no lost update"))
		}
		all = append(all, one)
	}
	return all, nil
}
