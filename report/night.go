package report

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// NightPage is the name of a night's page in its folder.
const NightPage = "index.html"

// Night is a series of runs, with the seeds from First on, or a part of them.
type Night struct {
	Title               string            `json:"title"` // the target and recipe under test
	Version             string            `json:"version"`
	Started             time.Time         `json:"started"`
	First               int64             `json:"firstSeed"`
	Seeds               int               `json:"seeds"`           // of all parts
	Shard               string            `json:"shard,omitempty"` // the part and the number of parts, such as 2/4; empty: all
	Parts               int               `json:"parts,omitempty"` // the number of nights from which it was merged
	Options             map[string]string `json:"options"`
	Results             []NightResult     `json:"results"`
	Earlier             *EarlierNight     `json:"earlier,omitempty"` // the night that it is compared with
	checker.CoverageSum                   // of all runs
}

// NightResult is the result of one run.
type NightResult struct {
	Seed    int64           `json:"seed"`
	Target  string          `json:"target"`
	Outcome verdict.Outcome `json:"outcome"`
	Reason  string          `json:"reason"`
	Trouble string          `json:"trouble,omitempty"` // an error of the run itself
	Void    bool            `json:"void,omitempty"`    // the servers disagreed: the run proves nothing
	Took    time.Duration   `json:"tookNs"`
	Ops     int             `json:"operations"`
	Faults  int             `json:"faults"`
	Servers string          `json:"zookeeper,omitempty"` // their version
	Memory  int64           `json:"memory"`              // bytes that zkverify used after the run
	Folder  string          `json:"folder,omitempty"`    // the folder of the kept run
	Cases   []Case          `json:"cases"`

	VoidRuns []string `json:"voidRuns,omitempty"` // the folders of earlier void runs with this seed

	report *checker.Report // nil after Night.Add
}

// ResultOf returns the result of the run with a seed.
func ResultOf(seed int64, header histories.Header, r *checker.Report, took time.Duration) *NightResult {
	return &NightResult{
		Seed: seed, Target: header.Target, Outcome: r.Outcome(), Reason: r.Reason(), Took: took,
		Ops: figure(r, "operations"), Faults: figure(r, "faults"), Cases: CasesOf(header, r), Void: r.Void(), Servers: r.ZooKeeper, report: r,
	}
}

// figure returns a count among the report's figures.
func figure(r *checker.Report, name string) int {
	for _, f := range r.Figures {
		if f.Name == name {
			return int(f.Value)
		}
	}
	return 0
}

// Passed reports whether the run need not be kept. A run that was too short to exercise
// all guarantees passes: it has violated none.
func (r *NightResult) Passed() bool {
	return r.Trouble == "" && (r.Outcome == verdict.Holds || r.Outcome == verdict.NotExercised)
}

// mostSeeds bounds the runs of a night, since a reader lists the seeds that are left.
const mostSeeds = 1_000_000

// Check returns an error unless the night, read from a file, is one that zkverify nightly writes.
func (n *Night) Check() error {
	if _, _, err := ParseShard(n.Shard); err != nil || n.Seeds < 1 || n.Seeds > mostSeeds || len(n.Options) == 0 {
		return errors.New("it is not what zkverify nightly writes")
	}
	for _, r := range n.Results {
		if slices.ContainsFunc(r.Cases, func(c Case) bool { return c.Outcome == "" }) {
			return fmt.Errorf("an older zkverify has written it (%s)", n.Version)
		}
	}
	return nil
}

// Differs returns the name of an option in which two nights differ, "" if they can be one
// night. The number of seeds does not matter.
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

// ParseShard returns the part and the number of parts in a text such as 2/4. An empty text
// stands for all.
func ParseShard(text string) (part, of int, err error) {
	if text == "" {
		return 1, 1, nil
	}
	if k, err := fmt.Sscanf(text, "%d/%d", &part, &of); k != 2 || err != nil || part < 1 || part > of || fmt.Sprintf("%d/%d", part, of) != text {
		return 0, 0, fmt.Errorf("%q is not a part such as 2/4", text)
	}
	return part, of, nil
}

// seeds returns the seeds of the night's part.
func (n *Night) seeds() (seeds []int64) {
	part, of, err := ParseShard(n.Shard)
	if err != nil {
		return nil // Check refuses such a shard
	}
	for i := part - 1; i < n.Seeds; i += of {
		seeds = append(seeds, n.First+int64(i))
	}
	return seeds
}

// Made returns the seeds that have a result.
func (n *Night) Made() (seeds []int64) {
	for _, r := range n.Results {
		seeds = append(seeds, r.Seed)
	}
	return seeds
}

// Left returns the seeds of the night's part that have no result yet.
func (n *Night) Left() []int64 {
	made := make(map[int64]bool)
	for _, seed := range n.Made() {
		made[seed] = true
	}
	return slices.DeleteFunc(n.seeds(), func(seed int64) bool { return made[seed] })
}

// Add adds the result of a run.
func (n *Night) Add(r *NightResult) {
	if r.report != nil {
		n.CoverageSum.Add(checker.CoverageSum{Coverage: r.report.Coverage, Meetings: r.report.Meetings, Situations: r.report.Situations})
		r.report = nil
	}
	n.Results = append(n.Results, *r)
}

// Outcome returns the outcome of the night: it is violated if any run is, and it holds if
// all runs are made and each holds.
func (n *Night) Outcome() verdict.Outcome {
	worst := verdict.Holds
	if len(n.Left()) > 0 {
		worst = verdict.Unknown
	}
	for _, r := range n.Results {
		o := r.Outcome
		if r.Trouble != "" || o == verdict.NotJudged {
			o = verdict.Worse(o, verdict.Unknown)
		}
		worst = verdict.Worse(worst, o)
	}
	return worst
}

// ZooKeeper returns the version of the servers, or the versions if the night was continued
// with others.
func (n *Night) ZooKeeper() string {
	var versions []string
	for _, r := range n.Results {
		if r.Servers != "" && !slices.Contains(versions, r.Servers) {
			versions = append(versions, r.Servers)
		}
	}
	return strings.Join(versions, ", ")
}

// JUnit returns the night as JUnit XML: a case for each seed, recipe and guarantee, and
// one more if runs were not made.
func (n *Night) JUnit() *JUnit {
	s := &JUnit{Name: "zkverify nightly " + n.Title, ZooKeeper: n.ZooKeeper()}
	for _, r := range n.Results {
		s.Took += r.Took
		seed := fmt.Sprintf("seed-%d", r.Seed)
		for _, c := range r.Cases {
			j := c.junit(r.Target)
			j.Class += "." + seed
			s.Cases = append(s.Cases, j)
		}
		if r.Trouble != "" {
			s.Cases = append(s.Cases, JUnitCase{Class: seed, Name: "the run", Took: r.Took, Error: r.Trouble})
		}
	}
	if why := n.missing(); why != "" {
		s.Cases = append(s.Cases, JUnitCase{Class: n.Title, Name: "the night as a whole", Error: why})
	}
	return s
}

// Planned returns the number of runs in the night's part.
func (n *Night) Planned() int { return len(n.seeds()) }
