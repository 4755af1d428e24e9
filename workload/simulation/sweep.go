package simulation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/workload/campaign"
)

// ResultsFile has a line of JSON for each run of a sweep, as soon as it has ended.
const ResultsFile = "results.jsonl"

// Sweep holds the outcomes of many runs, on record in a file. It belongs to one goroutine at a
// time.
type Sweep struct {
	file    *campaign.Lines
	results map[string]Outcome // by askedName
	order   []string
	plans   map[string]*PlanCoverage // by name
	chosen  map[string]choice        // of runs that Explore has named, by runName
	sought  map[string]int           // runs that looked for a situation, by name

	placements map[string]bool // see Outcome.Placements

	asked map[string]bool // the runs that are asked for now and are made

	holding, violated, unknown, failed int
	differing, steps, undecided        int // runs that differ from the model; steps that it can do; those not decided
	cpu, virtual                       time.Duration
	cycles                             int64
	struck                             int
}

// OpenSweep reads the outcomes in a file, which is created if need be, and appends further
// ones. Made names this program. If other is false, the error is ErrOtherProgram if a run in
// the file was made by another program.
func OpenSweep(path, made string, other bool) (s *Sweep, err error) {
	s = &Sweep{results: map[string]Outcome{}, plans: map[string]*PlanCoverage{}, chosen: map[string]choice{}, sought: map[string]int{}, asked: map[string]bool{}, placements: map[string]bool{}}
	s.file, err = campaign.OpenLines(path, func(line []byte) error {
		var o Outcome
		if json.Unmarshal(line, &o) != nil {
			return nil // half a line of an older version
		}
		if err := SameProgram(o.Made, made); err != nil && !other {
			return err
		}
		s.note(o)
		return nil
	})
	return s, err
}

// Searched returns what the plan edges has tried in all runs so far.
func (s *Sweep) Searched(processes bool) []Searched { return searched(s.placements, processes) }

// Paths counts the paths that the plan spec has carried out in all runs so far.
func (s *Sweep) Paths() PathsDone { return pathsDone(s.placements) }

// Made returns the number of runs that were asked for, through Has, and are made. The file may
// have others.
func (s *Sweep) Made() int { return len(s.asked) }

// Violated returns the number of these runs that violate a guarantee.
func (s *Sweep) Violated() int { return s.violated }

func runName(s Spec) string {
	text, _ := json.Marshal(s) //nolint:errcheck // a Spec can always be written
	return string(text)
}

// Has reports whether the run that is asked for was made.
func (s *Sweep) Has(asked Spec) bool {
	name := askedName(asked, nil)
	_, made := s.results[name]
	if made {
		s.asked[name] = true
	}
	return made
}

func (s *Sweep) note(o Outcome) {
	name := askedName(o.Spec, o.Chosen)
	if _, made := s.results[name]; made {
		return
	}
	plan := o.Spec.Plan
	if slices.Contains(o.Chosen, "plan") {
		plan = explores
	}
	if s.plans[plan] == nil {
		s.plans[plan] = &PlanCoverage{Plan: plan}
	}
	s.plans[plan].add(o.Coverage)
	if o.Sought != "" {
		s.sought[o.Sought]++
	}
	for p, made := range o.Placements {
		s.placements[p] = s.placements[p] || made
	}
	o.Coverage, o.Placements = Met{}, nil // they are in the sums
	s.results[name], s.order = o, append(s.order, name)
	s.cpu, s.virtual, s.cycles, s.struck = s.cpu+o.CPU, s.virtual+o.Virtual, s.cycles+o.Cycles, s.struck+o.Struck
	if o.Model != nil {
		s.steps, s.undecided = s.steps+o.Model.Steps, s.undecided+o.Model.Beyond
	}
	switch {
	case o.Outcome == verdict.Violated:
		s.violated++
	case o.Differs():
		s.differing++
	case o.Trouble != "":
		s.failed++
	case o.Outcome == verdict.Unknown:
		s.unknown++
	case o.Outcome == verdict.Holds:
		s.holding++
	}
}

// Add records the result of a run.
func (s *Sweep) Add(o Outcome) error {
	if chosen, ok := s.chosen[runName(o.Spec)]; ok {
		delete(s.chosen, runName(o.Spec))
		o.Chosen, o.Sought = chosen.parts, chosen.sought
	}
	s.note(o)
	s.asked[askedName(o.Spec, o.Chosen)] = true
	if o.Outcome != verdict.Violated {
		o.Schedule = nemesis.Schedule{}
	}
	return s.file.Add(o)
}

// Close closes the file.
func (s *Sweep) Close() error { return s.file.Close() }

// explained is the largest number of violated runs that are run again: one cause shows in many
// seeds.
const explained = 3

// ToExplain returns violated runs, of different guarantees first.
func (s *Sweep) ToExplain() (all []Outcome) {
	told := map[string]bool{}
	for _, again := range []bool{false, true} {
		for _, name := range s.order {
			o := s.results[name]
			if o.Outcome != verdict.Violated || told[o.Violated[0]] != again || told[name] || len(all) == explained {
				continue
			}
			told[o.Violated[0]], told[name] = true, true
			all = append(all, o)
		}
	}
	return all
}

// Outcome sums up the runs of the file. seeds is the number of runs that are asked for, 0 if
// there is no number. The outcome is violated if one run is, unknown if one is, failed or differs
// from the model, or if one of those asked for is missing, and not exercised if none put every guarantee to the test.
func (s *Sweep) Outcome(seeds int) verdict.Outcome {
	switch {
	case s.violated > 0:
		return verdict.Violated
	case s.failed+s.unknown+s.differing > 0 || s.Made() < seeds:
		return verdict.Unknown
	case s.holding == 0:
		return verdict.NotExercised
	}
	return verdict.Holds
}

func differ(runs int) string {
	if runs == 1 {
		return "1 run differs"
	}
	return fmt.Sprintf("%d runs differ", runs)
}

// Summary describes the outcomes of the runs. seeds is the number of runs that are asked for, 0
// if there is no number; took is the time that they took.
func (s *Sweep) Summary(seeds int, took time.Duration) string {
	var b strings.Builder
	if seeds == 0 {
		b.WriteString(words.Count(s.Made(), "run"))
	} else {
		fmt.Fprintf(&b, "%d of %s", s.Made(), words.Count(seeds, "run"))
	}
	if others := len(s.order) - s.Made(); others > 0 {
		fmt.Fprintf(&b, ", and %d that were made before", others)
	}
	fmt.Fprintf(&b, ": %d violated, %d failed, %d hold", s.violated, s.failed, s.holding)
	if s.unknown > 0 {
		fmt.Fprintf(&b, ", %d unknown", s.unknown)
	}
	if rest := len(s.order) - s.violated - s.failed - s.holding - s.unknown - s.differing; rest > 0 {
		fmt.Fprintf(&b, ", %d violate nothing but did not put every guarantee to the test", rest)
	}
	if s.steps > 0 {
		fmt.Fprintf(&b, "\n%s from the model of the mutex in a step, of %d that were compared; %d are not decided", differ(s.differing), s.steps, s.undecided)
	}
	if minutes := s.virtual.Minutes(); minutes > 0 {
		fmt.Fprintf(&b, "\n%.1f virtual minutes, %.2f s of CPU each; %s and %s; took %s", minutes, s.cpu.Seconds()/minutes,
			words.Count(s.cycles, "cycle"), words.Count(s.struck, "fault"), took.Round(time.Second))
	}
	return b.String()
}
