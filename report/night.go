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
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// NightPage is the name of a night's page in its folder.
const NightPage = "index.html"

// Night is many runs, with the seeds from First on, or a part of them.
type Night struct {
	Title               string            `json:"title"` // what was driven
	Version             string            `json:"version"`
	Started             time.Time         `json:"started"`
	First               int64             `json:"firstSeed"`
	Seeds               int               `json:"seeds"`           // of all parts
	Shard               string            `json:"shard,omitempty"` // which part of how many, such as 2/4; empty: all
	Parts               int               `json:"parts,omitempty"` // how many nights it was merged from
	Options             map[string]string `json:"options"`
	Results             []NightResult     `json:"results"`
	checker.CoverageSum                   // of all runs
}

// NightResult is what came of one run.
type NightResult struct {
	Seed    int64           `json:"seed"`
	Target  string          `json:"target"`
	Outcome verdict.Outcome `json:"outcome"`
	Reason  string          `json:"reason"`
	Trouble string          `json:"trouble,omitempty"` // what went wrong with the run itself
	Void    bool            `json:"void,omitempty"`    // the servers disagreed: it shows nothing
	Took    time.Duration   `json:"tookNs"`
	Ops     int             `json:"operations"`
	Faults  int             `json:"faults"`
	Servers string          `json:"zookeeper,omitempty"` // their version
	Memory  int64           `json:"memory"`              // bytes of zkverify after it
	Folder  string          `json:"folder,omitempty"`    // what was kept of it
	Cases   []Case          `json:"cases"`

	VoidRuns []string `json:"voidRuns,omitempty"` // the folders of void runs with this seed before it

	report *checker.Report // until the night has taken what it needs of it
}

// ResultOf is what came of the run with a seed.
func ResultOf(seed int64, header histories.Header, r *checker.Report, took time.Duration) *NightResult {
	return &NightResult{
		Seed: seed, Target: header.Target, Outcome: r.Outcome(), Reason: r.Reason(), Took: took,
		Ops: figure(r, "operations"), Faults: figure(r, "faults"), Cases: CasesOf(header, r), Void: r.Void(), Servers: r.ZooKeeper, report: r,
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
	return r.Trouble == "" && (r.Outcome == verdict.Holds || r.Outcome == verdict.NotExercised)
}

// ReadNight reads what WriteJSON has written.
func ReadNight(path string) (*Night, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseNight(text, path)
}

// mostSeeds is how many runs a night has at most: whoever reads one has a list of those left.
const mostSeeds = 1_000_000

// ParseNight reads the text of a file that [Night.WriteJSON] has written.
func ParseNight(text []byte, path string) (*Night, error) {
	n := &Night{}
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, _, err := ParseShard(n.Shard); err != nil || n.Seeds < 1 || n.Seeds > mostSeeds || len(n.Options) == 0 {
		return nil, fmt.Errorf("%s: %w", path, errors.New("it is not what zkverify nightly writes"))
	}
	for _, r := range n.Results {
		if slices.ContainsFunc(r.Cases, func(c Case) bool { return c.Outcome == "" }) {
			return nil, fmt.Errorf("%s: an older zkverify has written it (%s)", path, n.Version)
		}
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

// ParseShard reads which part of how many a text such as 2/4 names. No text means
// all.
func ParseShard(text string) (part, of int, err error) {
	if text == "" {
		return 1, 1, nil
	}
	if k, err := fmt.Sscanf(text, "%d/%d", &part, &of); k != 2 || err != nil || part < 1 || part > of || fmt.Sprintf("%d/%d", part, of) != text {
		return 0, 0, fmt.Errorf("%q is not a part such as 2/4", text)
	}
	return part, of, nil
}

// seeds returns those of its part.
func (n *Night) seeds() (seeds []int64) {
	part, of, err := ParseShard(n.Shard)
	if err != nil {
		return nil // ReadNight refuses it
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

// Left returns the seeds of its part that have no result yet.
func (n *Night) Left() []int64 {
	made := make(map[int64]bool)
	for _, seed := range n.Made() {
		made[seed] = true
	}
	return slices.DeleteFunc(n.seeds(), func(seed int64) bool { return made[seed] })
}

// Add puts the result of a run on record.
func (n *Night) Add(r *NightResult) {
	if r.report != nil {
		n.CoverageSum.Add(r.report.Coverage, r.report.Meetings)
		r.report = nil
	}
	n.Results = append(n.Results, *r)
}

// Outcome sums the night up: violated if any run is, holding if all are made and
// each holds.
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

// ZooKeeper names the version of the servers, or versions if a night has gone on
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

// JUnit is the night as JUnit XML: a case for each seed, recipe and guarantee, and
// one more where runs were not made.
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

// Planned is how many runs its part has.
func (n *Night) Planned() int { return len(n.seeds()) }
