package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/help"
	"github.com/zkverify/zkverify/internal/memory"
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
	Seeds           int           `default:"20" help:"How many runs, with the seeds from --seed on."`
	Shard           string        `help:"Make the I-th of N parts of the runs alone, default all: several machines share them. Needs --seed. auto: as the environment says, see docs/nightly.md." placeholder:"I/N"`
	For             time.Duration `help:"Begin no run after this time; default when all are made."`
	StopAtViolation bool          `help:"End with the first run in which a guarantee is violated."`

	Each runCmd `embed:""`
}

func (nightlyCmd) Help() string {
	return help.WithExamples("Takes the options of run, except that --out is a folder for all the runs (default nightly) and --seed the first seed (default drawn). The histories of runs that do not pass are kept, compressed; index.html and junit.xml list all runs. A night that was begun in the folder continues. A run whose servers came to disagree with each other shows nothing and is made again, up to twice. The exit status is 1 if a guarantee was violated in any run, 0 if all held in each, else 2.",
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
	if _, err := campaign.Shard(n.Shard, os.Getenv); err != nil {
		return fmt.Errorf("--shard: %w", err)
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
	part, err := campaign.Shard(n.Shard, os.Getenv)
	if err != nil {
		return nil, usage("--shard: %w", err)
	}
	first := rand.Int64N(1e9)
	if n.Each.Seed != nil {
		first = *n.Each.Seed
	}
	night := &report.Night{
		Title: driven(target, recipes), Version: versionText(), Started: time.Now(), First: first, Seeds: n.Seeds, Shard: part, Options: n.Each.options(recipes),
	}
	if err := resume(dir, night, n.Each.Seed != nil); err != nil {
		return nil, err
	}
	return night, saveNight(dir, night)
}

// makeRuns makes the runs that are left, until the time is up or ctx ends. The error says why it
// gave up.
func (n *nightlyCmd) makeRuns(ctx context.Context, con *console, dir string, night *report.Night, schedule *nemesis.Schedule) error {
	left, started, failed := night.Left(), time.Now(), 0
	for i, seed := range left {
		if ctx.Err() != nil || n.For > 0 && time.Since(started) >= n.For {
			return nil
		}
		con.say("seed %d: run %d of %d", seed, i+1, len(left))
		result, err := con.untilShown(ctx, dir, seedName(seed), func(out string) (*report.NightResult, error) {
			again := n.Each
			again.Seed, again.Out, again.Verbose = &seed, out, true
			return again.logged(ctx, con, fmt.Sprintf("seed %d, %d of %d", seed, i+1, len(left)), schedule)
		})
		if ctx.Err() != nil {
			return nil // half a run shows nothing
		}
		if result == nil {
			con.say("seed %d did not run: %v", seed, err)
			if failed++; failed == patienceWithEnsembles {
				return fmt.Errorf("%d runs in a row did not take place, the last one: %w", failed, err)
			}
			continue
		}
		failed = 0
		if err != nil {
			return err
		}
		debug.FreeOSMemory()
		result.Memory = memory.Resident()
		night.Add(result)
		if err := saveNight(dir, night); err != nil {
			return err
		}
		con.annotate(result)
		con.tell("seed %d: %s%s", seed, result, timeLeft(started, i+1, len(left)))
		if n.StopAtViolation && result.Outcome == verdict.Violated {
			return nil
		}
	}
	return nil
}

// voidRuns is the number of runs with one seed that may show nothing, since their servers came
// to disagree, before the seed is given up.
const voidRuns = 2

// untilShown makes a run in a folder, and tidies the folder up. It repeats a void run, and
// keeps the folder of that under another name. The result is nil if the run did not take
// place.
func (con *console) untilShown(ctx context.Context, dir, name string, run func(out string) (*report.NightResult, error)) (*report.NightResult, error) {
	out := filepath.Join(dir, name)
	for void := []string(nil); ; {
		// An interrupted night may have left a part of the run.
		if err := os.RemoveAll(out); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(out, 0o755); err != nil {
			return nil, usage("--out: %w", err)
		}
		result, err := run(out)
		if result == nil || ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			result.Trouble = err.Error()
		}
		if err := tidy(out, result); err != nil {
			return result, err
		}
		result.VoidRuns = void
		if !result.Void || len(void) == voidRuns {
			return result, nil
		}
		kept := fmt.Sprintf("%s-void-%d", name, len(void)+1)
		con.say("%s: %s: it is made again", name, result.Reason)
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, kept)), os.Rename(out, filepath.Join(dir, kept))); err != nil {
			return result, err
		}
		void = append(void, kept)
	}
}

func seedName(seed int64) string { return "seed-" + strconv.FormatInt(seed, 10) }

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

func timeLeft(started time.Time, done, all int) string {
	if done == all {
		return ""
	}
	each := time.Since(started) / time.Duration(done)
	return fmt.Sprintf(" (about %s for the other %d)", (each * time.Duration(all-done)).Round(time.Second), all-done)
}
