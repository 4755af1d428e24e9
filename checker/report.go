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
	"github.com/zkverify/zkverify/histories/states"
)

// Report is what [Check] found out about a run.
type Report struct {
	Verdicts []verdict.Verdict
	Coverage Coverage
	Recipes  []RecipeUse // what was driven
	Meetings []Meetings  // what faults have met, by recipe
	Figures  []verdict.Figure
	Events   int // in the history
	// ZooKeeper is the version of the servers, as the history says, such as "3.8.0" or
	// "3.8.0, simulated"; empty if it does not.
	ZooKeeper string
	// Disagreements say what the servers told differently at the end of the
	// run: see histories.Census. Unless it is empty the outcome of the run is
	// Unknown, whatever the verdicts are.
	Disagreements []string
	// Diverged name the servers whose tree was not the leader's for a while: see
	// histories.Census. A run is Unknown whose violations all begin after that.
	Diverged []histories.Divergence
	// Late says that words of worker processes came so late that no violation can
	// be held against the target: see histories.Census. A run that violates a
	// guarantee is Unknown then. Empty if they did not.
	Late string
	// Silences are those of worker processes that something other than the run has
	// stopped: see histories.Census. A run is Unknown whose violations they can
	// account for.
	Silences []histories.Silence
	// Notes tell what limited the verdicts: searches that hit a cap, a history
	// that was cut off; and what pauses of processes have shown.
	Notes []string

	own  []Guarantee // of the user's
	idle string      // why the run as a whole has shown nothing, or not all that is required
}

// Outcome sums the verdicts up: unknown if the servers disagree with each other,
// or if a guarantee is violated but a server was wrong before, lines of worker
// processes were recorded too late to say so, or their silences account for it; else
// violated if any guarantee is, else unknown if any is, else not exercised
// if any that the run set out to exercise is, if the run scheduled faults and none met
// a lease, or if none was put to the test at all; else not judged if any is; else it
// holds. Reason says which it was, and names what was not exercised.
func (r *Report) Outcome() verdict.Outcome { o, _ := r.sum(); return o }

// Reason says in words why Outcome is what it is.
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

// violated returns the first verdict that says so and can be held against the target;
// or the first that says so, and why it cannot. Nil if none says so.
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

// excuse says why a violation cannot be held against the target, "" if it can: a server
// was wrong before any part of it that is known began, lines of worker processes were
// recorded too late, or their silences account for all parts that are known.
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

// simulatedServers is at the end of Report.ZooKeeper if the servers were simulated.
const simulatedServers = ", simulated"

// serversBug says whose bug it is if servers disagree.
func (r *Report) serversBug() string {
	if strings.HasSuffix(r.ZooKeeper, simulatedServers) {
		return "a bug of the simulated servers, not of ZooKeeper"
	}
	return "a bug of ZooKeeper"
}

// Void reports whether the run shows nothing of the target because of its servers: they
// disagree with each other, or were wrong for a while before all that is violated. It is
// worth making again.
func (r *Report) Void() bool {
	v, why := r.violated()
	return len(r.Disagreements) > 0 || v != nil && why != "" && r.Late == "" && excuseBySilences(r.Silences, v) == ""
}

// noneViolated is sum for a report in which no promised guarantee is violated, unknown
// or missing what the run set out for.
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
		return verdict.NotJudged, "what was judged holds, but nobody has judged " + strings.Join(named[verdict.NotJudged], "; ") + idle
	case len(named[verdict.Holds]) == 0:
		return verdict.NotExercised, "nothing in the history puts a guarantee to the test" + idle
	case idle != "":
		return verdict.Holds, "every guarantee that was promised and put to the test holds" + idle
	}
	return verdict.Holds, "every guarantee that was promised holds"
}

// maxCells is how many empty cells of the coverage a reason names.
const maxCells = 5

// RequireCoverage makes a report of a run, in which some states were never met by one
// of the faults that are named, one that has shown nothing, unless it shows a violation
// or is unknown: its outcome is NotExercised then, and its reason names what was not met.
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
	r.idle = fmt.Sprintf("of the coverage that is required, %s: %s", words.Count(len(empty), "cell")+" empty", strings.Join(cells, ", "))
}

// Unmet returns the cells of some kinds of faults that are empty: all of those of a
// kind that never struck.
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

// Err returns nil if Outcome is Holds. Else it says which guarantee does not hold, and
// how it was first violated: a test of a lock may end with it.
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

// Guarantees returns those that the report has a verdict on: those of the checker in its
// order, then the user's. Of one of the user's a report that was read back knows the name
// alone.
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

// storedReport is a report as JSON has it.
type storedReport struct {
	Outcome  verdict.Outcome        `json:"outcome"` // follows, with Reason, from the rest
	Reason   string                 `json:"reason"`
	Verdicts []verdict.Verdict      `json:"verdicts"`
	Coverage Coverage               `json:"coverage"`
	Recipes  []RecipeUse            `json:"recipes"`
	Meetings []Meetings             `json:"meetings"`
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

// MarshalJSON writes the report with its overall outcome: the verdict.json of a
// run.
func (r *Report) MarshalJSON() ([]byte, error) {
	outcome, reason := r.sum()
	return json.Marshal(storedReport{
		outcome, reason, r.Verdicts, r.Coverage, r.Recipes, r.Meetings, r.Figures, r.Events, r.ZooKeeper, r.Disagreements, r.Diverged, r.Late, r.Silences, r.Notes, r.idle,
	})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Report) UnmarshalJSON(b []byte) error {
	var f storedReport
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*r = Report{f.Verdicts, f.Coverage, f.Recipes, f.Meetings, f.Figures, f.Events, f.Servers, f.Disagree, f.Diverged, f.Late, f.Silences, f.Notes, nil, f.Idle}
	return nil
}
