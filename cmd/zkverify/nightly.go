package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/campaign"
)

// nightlyCmds are the commands of zkverify nightly.
type nightlyCmds struct {
	Run   nightlyCmd      `cmd:"" default:"withargs" help:"Make many runs with many seeds, and keep what fails; the word run can be left out."`
	Merge nightlyMergeCmd `cmd:"" help:"Make one night, with one page, of parts that several machines made."`
}

// nightlyCmd makes many runs, each with a seed of its own.
type nightlyCmd struct {
	Seeds           int            `default:"20" help:"How many runs, with the seeds from --seed on."`
	Shard           campaign.Shard `help:"Make the I-th of N parts of the runs alone, default all: several machines share them. Needs --seed. auto: as the environment says, see docs/nightly.md." placeholder:"I/N"`
	For             time.Duration  `help:"Begin no run after this time; default when all are made."`
	Since           string         `help:"Folder of an earlier night of the same target, to say which causes of failures are new, still there, or gone; default none." placeholder:"DIR"`
	StopAtViolation bool           `help:"End with the first run in which a guarantee is violated."`

	Each runCmd `embed:""`
}

func (nightlyCmd) Help() string {
	return words.WithExamples("Takes the options of run, except that --out is a folder for all the runs (default nightly) and --seed the first seed (default drawn). The histories of runs that do not pass are kept, compressed; index.html and junit.xml list all runs. A night that was begun in the folder continues. A run whose servers came to disagree with each other shows nothing and is made again, up to twice. The exit status is 1 if a guarantee was violated in any run, 0 if all held in each, else 2.",
		"zkverify nightly --recipe all --seeds 100 --for 2h --out nightly")
}

// Validate is called by kong.
func (n *nightlyCmd) Validate() error {
	if n.Seeds < 1 {
		return fmt.Errorf("--seeds must be at least 1, not %d", n.Seeds)
	}
	if n.For < 0 {
		return fmt.Errorf("--for must be positive, not %v", n.For)
	}
	if n.Shard != "" && n.Each.Seed == nil {
		return errors.New("--shard needs --seed: all machines have to share the same seeds")
	}
	return n.Each.Validate()
}

// patienceWithEnsembles is the number of runs in a row that may fail to take place.
const patienceWithEnsembles = 3

func (n *nightlyCmd) Run(ctx context.Context, con *console) error {
	dir := n.Each.Out
	if dir == "" {
		dir = "nightly"
	}
	schedule, err := n.Each.schedule()
	if err != nil {
		return err
	}
	night, err := n.begin(ctx, dir)
	if err != nil {
		return err
	}
	if err := since(n.Since, night); err != nil {
		return err
	}
	left := night.Left()
	con.say("zkverify %s: %s, seeds %d to %d, %d of them to run, in %s", versionText(), night.Title, night.First, night.First+int64(night.Seeds)-1, len(left), dir)
	failure := n.makeRuns(ctx, con, dir, night, schedule)
	if err := errors.Join(saveNight(dir, night), stepSummary(night, dir)); err != nil {
		return errors.Join(failure, err)
	}
	con.tellNight(dir, night)
	if failure != nil {
		return failure
	}
	if o := night.Outcome(); ctx.Err() == nil || o == verdict.Violated {
		return outcome(o)
	}
	return outcome(verdict.Unknown)
}

// tellNight prints the summary of a night, and the path of its page.
func (con *console) tellNight(dir string, night *report.Night) {
	con.tellLines("\n" + night.Summary(dir))
	con.tell("to look at it: %s", filepath.Join(dir, report.NightPage))
}

// begin returns the night, with the results that its folder holds already, and saves it.
func (n *nightlyCmd) begin(ctx context.Context, dir string) (*report.Night, error) {
	target, recipes, err := n.Each.target(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := n.Each.Servers.credentials(); err != nil {
		return nil, err
	}
	if err := n.Each.Servers.installed(n.Each.Faults); err != nil {
		return nil, err
	}
	first := nemesis.DrawSeed()
	if n.Each.Seed != nil {
		first = *n.Each.Seed
	}
	night := &report.Night{
		Title: driven(target, recipes), Version: versionText(), Started: time.Now(), First: first, Seeds: n.Seeds, Shard: string(n.Shard), Options: n.Each.options(recipes),
	}
	if err := resume(dir, night, n.Each.Seed != nil); err != nil {
		return nil, err
	}
	return night, saveNight(dir, night)
}

// makeRuns makes the runs that are left, until the time is up or ctx ends. The error says why it
// gave up.
func (n *nightlyCmd) makeRuns(ctx context.Context, con *console, dir string, night *report.Night, schedule *nemesis.Schedule) error {
	left, failed := night.Left(), 0
	c := &campaign.Campaign{For: n.For, Total: len(left), Say: func(text string) { con.say("%s", text) }}
	return campaign.Make(ctx, c, func(yield func(int) bool) {
		for i, seed := range left {
			if n.StopAtViolation && slices.ContainsFunc(night.Results, func(r report.NightResult) bool { return r.Outcome == verdict.Violated }) {
				return
			}
			con.say("seed %d: run %d of %d", seed, i+1, len(left))
			if !yield(i) {
				return
			}
		}
	}, func(ctx context.Context, i int) (*report.NightResult, error) {
		r, err := untilShown(ctx, c, dir, fmt.Sprintf("seed-%d", left[i]), func(out string) (*report.NightResult, error) {
			again := n.Each
			again.Seed, again.Out, again.Verbose = &left[i], out, true
			return again.logged(ctx, con, fmt.Sprintf("seed %d, %d of %d", left[i], i+1, len(left)), schedule)
		})
		if r != nil || ctx.Err() != nil {
			failed = 0
			return r, err
		}
		con.say("seed %d did not run: %v", left[i], err)
		if failed++; failed == patienceWithEnsembles {
			return nil, fmt.Errorf("%d runs in a row did not take place, the last one: %w", failed, err)
		}
		return nil, nil
	}, func(i int, r *report.NightResult) error {
		if r == nil {
			return nil // it did not take place
		}
		debug.FreeOSMemory()
		r.Memory = residentMemory()
		night.Add(r)
		if err := saveNight(dir, night); err != nil {
			return err
		}
		con.annotate(r)
		con.tell("seed %d: %s%s", left[i], r, c.Left())
		return nil
	})
}

// untilShown makes a run in a folder, and tidies the folder up. It repeats a void run, whose servers
// came to disagree, and keeps the folder of that under another name. The result is nil if the run
// did not take place.
func untilShown(ctx context.Context, c *campaign.Campaign, dir, name string, run func(out string) (*report.NightResult, error)) (result *report.NightResult, err error) {
	out := filepath.Join(dir, name)
	var void []string
	err = c.UntilShown(ctx, name, func(again int) (nothing string, err error) {
		if again > 0 {
			kept := fmt.Sprintf("%s-void-%d", name, again)
			if err := errors.Join(os.RemoveAll(filepath.Join(dir, kept)), os.Rename(out, filepath.Join(dir, kept))); err != nil {
				return "", err
			}
			void = append(void, kept)
		}
		if err := campaign.Fresh(out); err != nil { // an interrupted night may have left a part of the run
			return "", usage("--out: %w", err)
		}
		if result, err = run(out); result == nil || ctx.Err() != nil {
			return "", err // half a run shows nothing
		}
		if err != nil {
			result.Trouble = err.Error()
		}
		if err := tidy(out, result); err != nil {
			return "", err
		}
		if result.VoidRuns = void; result.Void {
			nothing = result.Reason
		}
		return nothing, nil
	})
	return result, err
}

// logged makes a run whose messages go to a file in its folder, while con shows its progress.
// The result is nil if the run did not take place.
func (r *runCmd) logged(ctx context.Context, con *console, label string, schedule *nemesis.Schedule) (_ *report.NightResult, err error) {
	log, err := os.Create(filepath.Join(r.Out, "run.log"))
	if err != nil {
		return nil, usage("--out: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	start := time.Now()
	judged, err := r.drive(ctx, &console{out: log, err: log, live: con, label: label}, schedule)
	if judged == nil {
		return nil, err
	}
	var o outcome
	if errors.As(err, &o) {
		err = nil
	}
	return report.ResultOf(*r.Seed, judged.header, judged.Report, time.Since(start)), err
}
