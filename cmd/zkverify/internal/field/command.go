// Package field implements zkverify field, which runs many locks under the same faults and writes
// one table of the results.
package field

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/campaign"
)

// Commands are the commands of zkverify field.
type Commands struct {
	Run   Run   `cmd:"" default:"withargs" help:"Make runs with many locks; the word run can be left out."`
	Again Again `cmd:"" help:"Repeat runs with violations, and count how often these come back."`
	Page  Page  `cmd:"" help:"Write the pages of a folder anew, with the explanations of today."`
	Merge Merge `cmd:"" help:"Make one field of parts that several machines made."`
}

// which selects a part of a field.
type which struct {
	Field string   `help:"A YAML file with your own libraries, plans and explanations; default the field that is built in. See docs/field.md." placeholder:"FILE"`
	Lock  []string `help:"Only these locks, such as curator-5.4.0/LeaderLatch, 'curator-*' or 'kazoo-*/Lock'; default all." placeholder:"NAME"`
}

// Run makes runs.
type Run struct {
	which
	Plan  []string       `help:"Only these plans; default all." placeholder:"NAME"`
	Seed  int64          `default:"1" help:"The first seed. Every lock meets the same seeds."`
	Seeds int            `default:"1" help:"How many seeds: each lock has a run for each plan and seed."`
	For   time.Duration  `help:"Begin no run after this time; default when all are made."`
	Jobs  int            `default:"1" help:"Runs at the same time. Each has three servers."`
	Shard campaign.Shard `help:"Make the I-th of N parts of the runs alone, default all: several machines share them. auto: as the environment says, see docs/nightly.md." placeholder:"I/N"`
	Out   string         `default:"field" help:"Folder of the field. A field that was begun in it continues." placeholder:"DIR"`
	Dry   bool           `name:"dry-run" help:"Print the commands of the runs that are left, and make none."`
}

// Help is called by kong.
func (Run) Help() string {
	return words.WithExamples("Each run is a run of zkverify, whose command is printed. First every lock has a run under the first plan, then under the next. The folder gets field.md, index.html, field.json with all results, counts.json with the counts of field.md, and what is kept of runs: those with the shortest violation of a guarantee. Locks whose library is not installed are named as such. A run that shows nothing, since the machine was too busy or servers came to disagree, is made again, up to twice. The exit status is 0 if every run took place and each violation is explained, 1 if one is not explained, else 2.",
		"zkverify field --for 1h",
		"zkverify field --lock 'curator-*' --plan processes --seeds 3",
		"zkverify field --dry-run")
}

// Validate is called by kong.
func (c *Run) Validate() error {
	switch {
	case c.Seeds < 1:
		return fmt.Errorf("--seeds must be at least 1, not %d", c.Seeds)
	case c.Jobs < 1:
		return fmt.Errorf("--jobs must be at least 1, not %d", c.Jobs)
	case c.For < 0:
		return fmt.Errorf("--for must be positive, not %v", c.For)
	}
	return nil
}

// The outcomes of a field, which are errors.
var (
	// ErrUnexplained is returned if there is a violation without an explanation.
	ErrUnexplained = errors.New("")
	// ErrIncomplete is returned if runs did not take place.
	ErrIncomplete = errors.New("")
)

// Run makes the runs that are left. It returns ErrUnexplained, ErrIncomplete, a campaign.Refused, or an
// error of the file system.
func (c *Run) Run(ctx context.Context, out io.Writer, version campaign.Version) error {
	f, planned, err := c.runs()
	if err != nil {
		return err
	}
	s, err := load(c.Out)
	if err != nil {
		return campaign.Refuse("--out: %w", err)
	}
	left, err := s.left(planned)
	if err != nil {
		return campaign.Refuse("--out: %s: %w", c.Out, err)
	}
	if c.Dry {
		for _, p := range left {
			fmt.Fprintln(out, p.Command())
		}
		return nil
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return campaign.Refuse("--out: %w", err)
	}
	if s.Started.IsZero() {
		s.Started = time.Now()
	}
	s.Version = string(version)
	words.Fprintf(out, "%d runs, %d of them to make, in %s\n", len(planned), len(left), c.Out)
	r, err := newRunner(c.Out, out, c.Jobs)
	if err != nil {
		return err
	}
	r.For = c.For
	team := &team{runner: r, field: f, state: s, out: out, left: left}
	failed := team.work(ctx)
	if err := errors.Join(failed, s.save(c.Out, f)); err != nil && ctx.Err() == nil {
		return err
	}
	return conclude(out, c.Out, f, s, planned)
}

// runs returns the field, and its runs that the flags name.
func (c *Run) runs() (*Field, []planned, error) {
	f, err := Of(c.Field)
	if err != nil {
		return nil, nil, campaign.Refuse("--field: %w", err)
	}
	if err := f.names(c.Lock, c.Plan); err != nil {
		return nil, nil, campaign.Refuse("%w", err)
	}
	all := f.planned(c.Lock, c.Plan, c.Seed, c.Seeds)
	mine, err := campaign.Part(all, c.Shard)
	return f, mine, err
}

// conclude prints the paths of the pages, and returns the outcome of the field.
func conclude(out io.Writer, dir string, f *Field, s *State, runs []planned) error {
	p := pageOf(f, s)
	made, missing := 0, map[string]bool{}
	for _, run := range runs {
		switch r := s.of(run); {
		case r == nil:
		case r.Missing == "":
			made++
		case !missing[run.Lock.id]:
			missing[run.Lock.id] = true
			words.Fprintf(out, "%s did not run: %s\n", run.Lock.id, r.Missing)
		}
	}
	for _, g := range p.Groups("") {
		words.Fprintf(out, "not explained: %s violated %s, such as: %s\n", g.Lock, strings.Join(g.Violated(), "; "), g.Verdict.What)
	}
	words.Fprintf(out, "\n%d of %d runs were made; to look at it: %s and %s\n", made, len(runs), filepath.Join(dir, pageFile), filepath.Join(dir, markdownFile))
	switch {
	case len(p.Groups("")) > 0:
		return ErrUnexplained
	case made < len(runs):
		return ErrIncomplete
	}
	return nil
}

// Page writes the pages of a folder anew.
type Page struct {
	Dir   string `arg:"" help:"Folder of a field."`
	Field string `help:"The YAML file of the field; default the one that is built in." placeholder:"FILE"`
}

// Help is called by kong.
func (Page) Help() string {
	return words.WithExamples("Makes no run.", "zkverify field page field")
}

// Run writes the pages. It returns a campaign.Refused, or an error of the file system.
func (c *Page) Run() error {
	f, s, err := open(c.Field, c.Dir)
	if err != nil {
		return err
	}
	return s.save(c.Dir, f)
}

// open reads a field, and a folder that has results.
func open(file, dir string) (*Field, *State, error) {
	f, err := Of(file)
	if err != nil {
		return nil, nil, campaign.Refuse("--field: %w", err)
	}
	s, err := load(dir)
	if err != nil {
		return nil, nil, campaign.Refuse("%w", err)
	}
	if len(s.Results) == 0 {
		return nil, nil, campaign.Refuse("%s holds no field: it has no %s", dir, stateFile)
	}
	return f, s, nil
}
