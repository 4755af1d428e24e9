package field

import (
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/runs"
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
	// Idle says why the faults put nothing to the test, such as that none started.
	Idle string `json:"idle,omitempty"`
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
	runs.Verdict
	// The shortest part of the history that still has the violation, in words, and its events.
	Story  string `json:"story,omitempty"`
	Events int    `json:"events,omitempty"`
}

// Repeats is how often a violation of a guarantee came back.
type Repeats struct {
	Guarantee string `json:"guarantee"`
	Came      int    `json:"came"`
	Of        int    `json:"of"`
	// Command is that of the repeats, if they were longer than the run; "" if it is the run's.
	Command string `json:"command,omitempty"`
}

// share is how often of each time it came back.
func (r Repeats) share() float64 { return float64(r.Came) / float64(r.Of) }

// mostOften are the repeats in which a violation of a guarantee came back most often, nil if
// there are none.
func (r *Result) mostOften(guarantee string) (best *Repeats) {
	for i := range r.Again {
		if a := &r.Again[i]; a.Guarantee == guarantee && a.Of > 0 && (best == nil || a.share() > best.share()) {
			best = a
		}
	}
	return best
}

// cameBack is how often of each time that the run was repeated a guarantee was violated
// again, 0 if it never was.
func (r *Result) cameBack(guarantee string) float64 {
	if best := r.mostOften(guarantee); best != nil {
		return best.share()
	}
	return 0
}

// violated returns the guarantees that the run has violated.
func (r *Result) violated() (all []*Verdict) {
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Violated() {
			all = append(all, v)
		}
	}
	return all
}

// violations is how many the run has: the more, the surer its repeats have some.
func (r *Result) violations() (n int) {
	for _, v := range r.violated() {
		n += v.Violations
	}
	return n
}

// read takes the verdicts of a run's folder. The error is fs.ErrNotExist if it has none.
func (r *Result) read(dir string) error {
	judged, err := runs.Read(dir)
	if err != nil {
		return err
	}
	r.Outcome, r.Reason, r.Idle = judged.Outcome, judged.Reason, judged.Idle
	for _, v := range judged.Verdicts {
		r.Verdicts = append(r.Verdicts, Verdict{Verdict: v})
	}
	return nil
}
