package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

// NightPage is the name of a night's page in its folder.
const NightPage = "index.html"

// Night is many runs, with the seeds from First on.
type Night struct {
	Title   string            `json:"title"` // what was driven
	Version string            `json:"version"`
	Started time.Time         `json:"started"`
	First   int64             `json:"firstSeed"`
	Seeds   int               `json:"seeds"`
	Shard   string            `json:"shard,omitempty"`
	Options map[string]string `json:"options"`
	Results []NightResult     `json:"results"`
}

// NightResult is what came of one run.
type NightResult struct {
	Seed    int64           `json:"seed"`
	Outcome checker.Outcome `json:"outcome"`
	Reason  string          `json:"reason"`
	Trouble string          `json:"trouble,omitempty"` // what went wrong with the run itself
	Void    bool            `json:"void,omitempty"`    // the servers disagreed: it shows nothing
	Took    time.Duration   `json:"tookNs"`
	Ops     int             `json:"operations"`
	Faults  int             `json:"faults"`
	Memory  int64           `json:"memory"`           // bytes of zkverify after it
	Folder  string          `json:"folder,omitempty"` // what was kept of it
	Cases   []JUnitCase     `json:"cases"`

	VoidRuns []string `json:"voidRuns,omitempty"` // the folders of void runs with this seed before it
}

// ResultOf is what came of the run with a seed.
func ResultOf(seed int64, header histories.Header, r *checker.Report, took time.Duration) *NightResult {
	return &NightResult{
		Seed: seed, Outcome: r.Outcome(), Reason: r.Reason(), Took: took, Ops: figure(r, "operations"), Faults: figure(r, "faults"),
		Cases: JUnitOf(header, r, took).Cases, Void: len(r.Disagreements) > 0,
	}
}

// figure is a count among the report's figures.
func figure(r *checker.Report, name string) int {
	for _, f := range r.Figures {
		if f.Name == name {
			return int(f.Value)
		}
	}
	return 0
}

// Passed reports whether nothing is to be kept of the run. One that was too short
// to exercise everything has shown nothing wrong.
func (r *NightResult) Passed() bool {
	return r.Trouble == "" && (r.Outcome == checker.Holds || r.Outcome == checker.NotExercised)
}

// String tells it in a line.
func (r *NightResult) String() string {
	text := fmt.Sprintf("%s: %s; %d operations, %d faults, %s", r.Outcome, r.Reason, r.Ops, r.Faults, Seconds(r.Took))
	if r.Trouble != "" {
		text += "; " + r.Trouble
	}
	if n := len(r.VoidRuns); n > 0 {
		text += fmt.Sprintf("; made again %s because the servers disagreed (%s)", times(n), strings.Join(r.VoidRuns, ", "))
	}
	return text
}

// Annotation is the line by which a GitHub workflow shows it.
func (r *NightResult) Annotation() string {
	level := "error"
	if r.Outcome != checker.Violated {
		level = "warning"
	}
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	return fmt.Sprintf("::%s title=zkverify seed %d::%s", level, r.Seed, escape.Replace(r.String()))
}

// ReadNight reads what WriteJSON has written.
func ReadNight(path string) (*Night, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := &Night{}
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if n.Seeds < 1 || len(n.Options) == 0 {
		return nil, fmt.Errorf("%s: %w", path, errors.New("it is not what zkverify nightly writes"))
	}
	return n, nil
}

// WriteJSON writes the night, so that it can be gone on with.
func (n *Night) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(n)
}

// Differs names an option in which two nights differ, "" if they can be one: how
// many seeds there are does not matter.
func (n *Night) Differs(other *Night) string {
	if n.Title != other.Title {
		return "target or recipe (" + n.Title + ")"
	}
	if n.Shard != other.Shard {
		return "shard (" + n.Shard + ")"
	}
	keys := slices.Sorted(maps.Keys(n.Options))
	for key := range other.Options {
		if _, ok := n.Options[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if n.Options[key] != other.Options[key] {
			return "--" + key + " (" + n.Options[key] + ")"
		}
	}
	return ""
}

// seedsOf returns the seeds of a part.
func (n *Night) seedsOf(part, of int) (seeds []int64) {
	for i := part - 1; i < n.Seeds; i += of {
		seeds = append(seeds, n.First+int64(i))
	}
	return seeds
}

// Left returns the seeds of a part that have no result yet.
func (n *Night) Left(part, of int) []int64 {
	return slices.DeleteFunc(n.seedsOf(part, of), func(seed int64) bool {
		return slices.ContainsFunc(n.Results, func(r NightResult) bool { return r.Seed == seed })
	})
}

// Outcome sums a part up: violated if any run is, holding if all are made and
// each holds.
func (n *Night) Outcome(part, of int) checker.Outcome {
	worst := checker.Holds
	for _, r := range n.Results {
		switch {
		case r.Outcome == checker.Violated:
			return checker.Violated
		case r.Trouble != "" || r.Outcome == checker.Unknown || r.Outcome == checker.NotJudged:
			worst = checker.Unknown
		case r.Outcome == checker.NotExercised && worst == checker.Holds:
			worst = checker.NotExercised
		}
	}
	if len(n.Left(part, of)) > 0 && worst == checker.Holds {
		return checker.Unknown
	}
	return worst
}

// Count returns how many runs came to an outcome.
func (n *Night) Count(o checker.Outcome) int {
	count := 0
	for _, r := range n.Results {
		if r.Outcome == o {
			count++
		}
	}
	return count
}

// Summary tells a part in a few lines.
func (n *Night) Summary(part, of int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d runs made: ", len(n.Results), len(n.seedsOf(part, of)))
	var counts []string
	for _, o := range []checker.Outcome{checker.Holds, checker.Violated, checker.Unknown, checker.NotExercised, checker.NotJudged} {
		if c := n.Count(o); c > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", c, o))
		}
	}
	if counts == nil {
		counts = []string{"none"}
	}
	b.WriteString(strings.Join(counts, ", "))
	ops := 0
	for _, r := range n.Results {
		ops += r.Ops
	}
	fmt.Fprintf(&b, "; %d operations", ops)
	if k := len(n.Results); k > 2 && n.Results[1].Memory > 0 {
		fmt.Fprintf(&b, "; zkverify took %d MB after the second run, %d MB after the last", n.Results[1].Memory>>20, n.Results[k-1].Memory>>20)
	}
	for _, r := range n.Results {
		if r.Passed() && len(r.VoidRuns) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\nseed %d: %s", r.Seed, r.String())
		if r.Folder != "" {
			fmt.Fprintf(&b, " (%s)", r.Folder)
		}
	}
	return b.String()
}

// JUnit is the night as JUnit XML: a case for each seed, recipe and guarantee.
func (n *Night) JUnit() *JUnit {
	s := &JUnit{Name: "zkverify nightly " + n.Title}
	for _, r := range n.Results {
		s.Took += r.Took
		for _, c := range r.Cases {
			c.Class = fmt.Sprintf("%s.seed-%d", c.Class, r.Seed)
			s.Cases = append(s.Cases, c)
		}
		if r.Trouble != "" {
			s.Cases = append(s.Cases, JUnitCase{Class: fmt.Sprintf("seed-%d", r.Seed), Name: "the run", Took: r.Took, Error: r.Trouble})
		}
	}
	return s
}
