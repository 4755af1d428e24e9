package field

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/workload/campaign"
)

// Result is the result of a run.
type Result struct {
	Lock string `json:"lock"`
	Plan string `json:"plan"`
	campaign.Result
	Verdicts []Verdict `json:"verdicts,omitempty"`
	// Folder is the folder that was kept of the run, "" for none.
	Folder string `json:"folder,omitempty"`
	// Again counts how often each violation came back when the run was repeated.
	Again []Repeats `json:"again,omitempty"`
}

// Verdict is the verdict on one guarantee of a run.
type Verdict struct {
	campaign.Verdict
	// Story describes the shortest part of the history that still has the violation. Events is
	// the number of its events.
	Story  string `json:"story,omitempty"`
	Events int    `json:"events,omitempty"`
}

// Repeats counts how often a violation of a guarantee came back.
type Repeats struct {
	Guarantee string `json:"guarantee"`
	Came      int    `json:"came"`
	Of        int    `json:"of"`
	// Command is the command of the repeats if they were longer than the run, else "".
	Command string `json:"command,omitempty"`
}

// longer returns the duration in the command of longer repeats, 0 if there is none.
func (r Repeats) longer() (d time.Duration) {
	if words := strings.Fields(r.Command); len(words) > 3 {
		d, _ = time.ParseDuration(words[len(words)-3]) //nolint:errcheck // --duration 3m0s --seed 1
	}
	return d
}

// mostOften returns the repeats in which a violation of a guarantee came back most often, or all of
// them if it never came back.
func (r *Result) mostOften(guarantee string) (best Repeats) {
	for _, a := range r.Again {
		switch {
		case a.Guarantee != guarantee:
		case best.Came == 0 && a.Came == 0:
			best.Of += a.Of
		case best.Came == 0 || a.Came*best.Of > best.Came*a.Of:
			best = a
		}
	}
	return best
}

// String returns the repeats for a table: " (3/4 of 2m)" if they lasted two minutes, "" for none.
func (r Repeats) String() string {
	switch {
	case r.Of == 0:
		return ""
	case r.Command == "":
		return fmt.Sprintf(" (%d/%d)", r.Came, r.Of)
	}
	return fmt.Sprintf(" (%d/%d of %s)", r.Came, r.Of, strings.TrimSuffix(r.longer().String(), "0s"))
}

// cameBack returns the share of the run's repeats in which a guarantee was violated again, 0 if it
// never was.
func (r *Result) cameBack(guarantee string) float64 {
	best := r.mostOften(guarantee)
	return float64(best.Came) / float64(max(1, best.Of))
}

// violated returns the verdicts on the guarantees that the run has violated.
func (r *Result) violated() (all []*Verdict) {
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Violated() {
			all = append(all, v)
		}
	}
	return all
}

// violations returns the number of violations of the run. The more it has, the surer its repeats
// have some.
func (r *Result) violations() (n int) {
	for _, v := range r.violated() {
		n += v.Violations
	}
	return n
}

// read sets the verdicts to those in a run's folder. The error is fs.ErrNotExist if it has none.
func (r *Result) read(dir string) error {
	all, err := r.Read(dir)
	for _, v := range all {
		r.Verdicts = append(r.Verdicts, Verdict{Verdict: v})
	}
	return err
}

// String returns the result of the run in words.
func (r Result) String() string {
	if r.Missing != "" {
		return "did not run: " + r.Missing
	}
	var violated []string
	for _, v := range r.violated() {
		violated = append(violated, v.Guarantee)
	}
	if len(violated) > 0 {
		return string(verdict.Violated) + ": " + strings.Join(violated, "; ")
	}
	if !slices.Contains([]verdict.Outcome{verdict.Holds, verdict.Violated}, r.Outcome) && r.Reason != "" {
		return string(r.Outcome) + ": " + r.Reason
	}
	return string(r.Outcome)
}
