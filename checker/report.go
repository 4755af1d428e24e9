package checker

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/situations"
	"github.com/zkverify/zkverify/histories/states"
)

// Report is the result of [Check]: its verdicts on a run, and what the run exercised.
type Report struct {
	Verdicts []verdict.Verdict
	Coverage Coverage
	Recipes  []RecipeUse // the recipes that were driven
	Meetings []Meetings  // the states in which faults met the locks of each recipe
	// Situations counts the occurrences of each situation, if WithSituations was given.
	Situations situations.Counts
	Figures    []verdict.Figure
	Events     int // in the history
	// ZooKeeper is the version of the servers that the history states, such as "3.8.0" or
	// "3.8.0, simulated"; empty if it states none.
	ZooKeeper string
	// Disagreements lists how the servers' states differed at the end of the run: see
	// histories.Census. Unless it is empty, the outcome of the run is Unknown, regardless of
	// the verdicts.
	Disagreements []string
	// Diverged lists the servers whose tree differed from the leader's for a while: see
	// histories.Census. A run is Unknown if all its violations begin after that.
	Diverged []histories.Divergence
	// Late is set if messages of worker processes were recorded so late that no violation can
	// be held against the target: see histories.Census. A run that violates a guarantee is
	// Unknown then. Empty if they were not.
	Late string
	// Silences lists the times in which something other than the run stopped a worker process:
	// see histories.Census. A run is Unknown if they can account for its violations.
	Silences []histories.Silence
	// Notes list the limits of the verdicts (a search that hit a cap, a history that was cut
	// off), and the effects of pauses of processes.
	Notes []string

	own  []Guarantee // the guarantees of the user
	idle string      // the reason why the run as a whole has shown nothing, or not all that is required
}

// Outcome returns the outcome of the run as a whole. It is
//
//   - unknown if the servers disagree with each other;
//   - violated if any guarantee is, unless the violation cannot be held against the target: a
//     server was wrong before it, lines of worker processes were recorded too late, or their
//     silences account for it. Then the outcome is unknown;
//   - unknown if any guarantee is;
//   - not exercised if a guarantee that the run set out to exercise is, if the run scheduled
//     faults and none met a lease, or if no guarantee was put to the test;
//   - not judged if any guarantee is;
//   - holds otherwise.
//
// The first of these that applies counts. Reason names it, and the guarantees that were not
// exercised.
func (r *Report) Outcome() verdict.Outcome { o, _ := r.sum(); return o }

// Reason returns the reason for Outcome in words.
func (r *Report) Reason() string { _, why := r.sum(); return why }

func (r *Report) sum() (verdict.Outcome, string) {
	if len(r.Disagreements) > 0 {
		return verdict.Unknown, "the servers disagree with each other, which is " + r.serversBug() + ": no lock can be judged by what it did on them (" + r.Disagreements[0] + ")"
	}
	if v, why := r.violated(); v != nil && why == "" {
		return verdict.Violated, v.Guarantee + ": " + v.Reason
	} else if v != nil {
		return verdict.Unknown, why + " (" + v.Guarantee + ": " + v.Reason + ")"
	}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Outcome == verdict.Unknown {
			return verdict.Unknown, v.Guarantee + ": " + v.Reason
		}
	}
	if r.idle != "" {
		return verdict.NotExercised, r.idle
	}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Outcome == verdict.NotExercised && v.Expected {
			return verdict.NotExercised, v.Guarantee + ": " + v.Reason
		}
	}
	return r.noneViolated()
}

// violated returns the first verdict with a violation that can be held against the target.
// Without one it returns the first verdict with a violation, and the excuse. It returns nil if
// no guarantee is violated.
func (r *Report) violated() (first *verdict.Verdict, why string) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if v.Outcome != verdict.Violated {
			continue
		}
		excuse := r.excuse(v)
		if excuse == "" {
			return v, ""
		}
		if first == nil {
			first, why = v, excuse
		}
	}
	return first, why
}

// excuse returns why a violation cannot be held against the target, or "" if it can. The
// reasons: a server was wrong before every known part of it began, lines of worker processes
// were recorded too late, or their silences account for all known parts.
func (r *Report) excuse(v *verdict.Verdict) string {
	if r.Late != "" {
		return r.Late
	}
	for _, d := range r.Diverged {
		if !slices.ContainsFunc(v.Witnesses, func(w verdict.Witness) bool { return w.From < d.Since }) {
			return "a server had another tree than its leader for a while, which is " + r.serversBug() + ", so no violation after that can be held against the lock: " + d.String()
		}
	}
	return excuseBySilences(r.Silences, v)
}

// simulatedServers is the suffix of Report.ZooKeeper if the servers were simulated.
const simulatedServers = ", simulated"

// serversBug returns a phrase that blames a disagreement of the servers on ZooKeeper or on the
// simulated servers.
func (r *Report) serversBug() string {
	if strings.HasSuffix(r.ZooKeeper, simulatedServers) {
		return "a bug of the simulated servers, not of ZooKeeper"
	}
	return "a bug of ZooKeeper"
}

// Void reports whether the run shows nothing about the target because of its servers: they
// disagree with each other, or were wrong for a while before every violation. Such a run is
// worth repeating.
func (r *Report) Void() bool {
	v, why := r.violated()
	return len(r.Disagreements) > 0 || v != nil && why != "" && r.Late == "" && excuseBySilences(r.Silences, v) == ""
}

// noneViolated returns the outcome of a report in which no promised guarantee is violated,
// unknown or lacks what the run set out for.
func (r *Report) noneViolated() (verdict.Outcome, string) {
	named := make(map[verdict.Outcome][]string)
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Promised {
			named[v.Outcome] = append(named[v.Outcome], v.Guarantee)
		}
	}
	idle := ""
	if names := named[verdict.NotExercised]; len(names) > 0 {
		idle = "; not exercised: " + strings.Join(names, "; ")
	}
	switch {
	case len(named[verdict.NotJudged]) > 0:
		return verdict.NotJudged, "what was judged holds, but these were not judged: " + strings.Join(named[verdict.NotJudged], "; ") + idle
	case len(named[verdict.Holds]) == 0:
		return verdict.NotExercised, "nothing in the history puts a guarantee to the test" + idle
	case idle != "":
		return verdict.Holds, "every guarantee that was promised and put to the test holds" + idle
	}
	return verdict.Holds, "every guarantee that was promised holds"
}

// maxCells bounds the combinations that a reason names.
const maxCells = 5

// RequireCoverage marks a run as one that has shown nothing if one of the named faults never
// met some state. The outcome of its report is NotExercised then, unless it is violated or
// unknown, and the reason names the states that were not met.
func (r *Report) RequireCoverage(faults []string) {
	empty := r.Unmet(faults)
	if len(empty) == 0 || r.idle != "" {
		return
	}
	var cells []string
	for _, c := range empty[:min(len(empty), maxCells)] {
		cells = append(cells, fmt.Sprintf("%s × %s × %s", c.Fault, c.Recipe, c.State))
	}
	if more := len(empty) - len(cells); more > 0 {
		cells = append(cells, fmt.Sprintf("… and %d more", more))
	}
	r.idle = fmt.Sprintf("%s of fault, recipe and state did not occur: %s", words.Count(len(empty), "required combination"), strings.Join(cells, ", "))
}

// Unmet returns the empty cells of the named kinds of faults. All cells of a kind that never
// struck are empty.
func (r *Report) Unmet(faults []string) (out []Unmet) {
	for _, fault := range faults {
		for _, use := range r.Recipes {
			row := Meetings{fault, use.Recipe, nil}
			for _, m := range r.Meetings {
				if m.Fault == fault && m.Recipe == use.Recipe {
					row = m
				}
			}
			if row.Met == nil {
				row.Met = none(states.Of(use.Recipe, true))
			}
			for _, s := range row.Unmet() {
				out = append(out, Unmet{fault, use.Recipe, s})
			}
		}
	}
	return out
}

// ErrViolated is wrapped by the error of [Report.Err] when a guarantee is violated.
var ErrViolated = errors.New("violated")

// Err returns nil if Outcome is Holds. Otherwise its error names the guarantee that does not
// hold, and the first violation: a test of a lock may end with it.
func (r *Report) Err() error {
	switch o, why := r.sum(); o {
	case verdict.Holds:
		return nil
	case verdict.Violated:
		for i := range r.Verdicts {
			if v := &r.Verdicts[i]; v.Outcome == verdict.Violated && len(v.Witnesses) > 0 {
				return fmt.Errorf("%s is %w: %s. First: %s", v.Guarantee, ErrViolated, v.Reason, v.Witnesses[0])
			}
		}
		return fmt.Errorf("%w: %s", ErrViolated, why)
	default:
		return fmt.Errorf("%s: %s", o, why)
	}
}

// Verdict returns the verdict on the named guarantee, or nil.
func (r *Report) Verdict(guarantee string) *verdict.Verdict {
	for i := range r.Verdicts {
		if r.Verdicts[i].Guarantee == guarantee {
			return &r.Verdicts[i]
		}
	}
	return nil
}

// Guarantees returns the guarantees that the report has a verdict on: those of the checker in
// its order, then those of the user. A report that was read back knows only the names of the
// latter.
func (r *Report) Guarantees() []Guarantee {
	all := slices.DeleteFunc(Guarantees(), func(g Guarantee) bool { return r.Verdict(g.Name) == nil })
	for i := range r.Verdicts {
		name := r.Verdicts[i].Guarantee
		if _, err := guaranteeNamed(name, guarantees); err == nil {
			continue
		}
		g, err := guaranteeNamed(name, r.own)
		if err != nil {
			g = Guarantee{Name: name, appliesTo: facts.Every, own: true}
		}
		all = append(all, g)
	}
	return all
}

// storedReport is the JSON form of a report.
type storedReport struct {
	Outcome  verdict.Outcome        `json:"outcome"` // follows from the other fields, as does Reason
	Reason   string                 `json:"reason"`
	Verdicts []verdict.Verdict      `json:"verdicts"`
	Coverage Coverage               `json:"coverage"`
	Recipes  []RecipeUse            `json:"recipes"`
	Meetings []Meetings             `json:"meetings"`
	Reached  situations.Counts      `json:"situations,omitempty"`
	Figures  []verdict.Figure       `json:"figures"`
	Events   int                    `json:"events"`
	Servers  string                 `json:"zookeeper,omitempty"`
	Disagree []string               `json:"disagreements,omitempty"`
	Diverged []histories.Divergence `json:"diverged,omitempty"`
	Late     string                 `json:"late,omitempty"`
	Silences []histories.Silence    `json:"silences,omitempty"`
	Notes    []string               `json:"notes,omitempty"`
	Idle     string                 `json:"idle,omitempty"`
}

// MarshalJSON writes the report with its overall outcome, the contents of a run's verdict.json.
func (r *Report) MarshalJSON() ([]byte, error) {
	outcome, reason := r.sum()
	return json.Marshal(storedReport{
		outcome, reason, r.Verdicts, r.Coverage, r.Recipes, r.Meetings, r.Situations, r.Figures, r.Events, r.ZooKeeper, r.Disagreements, r.Diverged, r.Late, r.Silences, r.Notes, r.idle,
	})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Report) UnmarshalJSON(b []byte) error {
	var f storedReport
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	for i := range f.Verdicts {
		f.Verdicts[i].Guarantee = PresentName(f.Verdicts[i].Guarantee)
	}
	*r = Report{f.Verdicts, f.Coverage, f.Recipes, f.Meetings, f.Reached, f.Figures, f.Events, f.Servers, f.Disagree, f.Diverged, f.Late, f.Silences, f.Notes, nil, f.Idle}
	return nil
}
