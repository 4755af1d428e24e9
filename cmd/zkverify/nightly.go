package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/report"
)

// nightlyCmd makes many runs, each with a seed of its own.
type nightlyCmd struct {
	Seeds           int           `default:"20" help:"How many runs, with the seeds from --seed on (${default})."`
	Shard           string        `help:"Make the I-th of N parts of the runs alone: several machines share them. Needs --seed." placeholder:"I/N"`
	For             time.Duration `help:"Begin no run after this time; default when all are made."`
	StopAtViolation bool          `help:"End with the first run in which a guarantee is violated."`

	Each runCmd `embed:""`
}

func (nightlyCmd) Help() string {
	return "Example: zkverify nightly --recipe all --seeds 100 --for 2h --out nightly\n\n" +
		"Takes the options of run. --out is a folder for all the runs (default nightly), --seed the first seed (default drawn). Histories are kept, compressed, of runs that do not pass; index.html and junit.xml tell of all. " +
		"What was begun in the folder is gone on with. A run whose servers came to disagree with each other shows nothing and is made again, up to twice. The exit status is 1 if a guarantee was violated in any run, 0 if all held in each, else 2."
}

// Validate is called by kong.
func (n *nightlyCmd) Validate() error {
	if n.Seeds < 1 {
		return fmt.Errorf("--seeds must be at least 1, not %d", n.Seeds)
	}
	if n.For < 0 {
		return fmt.Errorf("--for must be positive, not %v", n.For)
	}
	if _, _, err := n.shard(); err != nil {
		return err
	}
	if n.Shard != "" && n.Each.Seed == nil {
		return errors.New("--shard needs --seed: all machines have to share the same seeds")
	}
	return n.Each.Validate()
}

// shard returns which part of how many is to be run.
func (n *nightlyCmd) shard() (part, of int, err error) {
	if n.Shard == "" {
		return 1, 1, nil
	}
	if k, err := fmt.Sscanf(n.Shard, "%d/%d", &part, &of); k != 2 || err != nil || part < 1 || part > of || fmt.Sprintf("%d/%d", part, of) != n.Shard {
		return 0, 0, fmt.Errorf("--shard: %q is not a part such as 2/4", n.Shard)
	}
	return part, of, nil
}

// nightlyFile is the state of a night, in its folder.
const nightlyFile = "nightly.json"

// patienceWithEnsembles is how many runs in a row may fail to take place.
const patienceWithEnsembles = 3

func (n *nightlyCmd) Run(ctx context.Context, con *console) error {
	dir := n.Each.Out
	if dir == "" {
		dir = "nightly"
	}
	target, recipes, err := n.Each.target(ctx)
	if err != nil {
		return err
	}
	schedule, err := n.Each.schedule()
	if err != nil {
		return err
	}
	if _, err := n.Each.Servers.credentials(); err != nil {
		return err
	}
	part, of, err := n.shard()
	if err != nil {
		return usageError{err}
	}
	first := rand.Int64N(1e9)
	if n.Each.Seed != nil {
		first = *n.Each.Seed
	}
	night := &report.Night{
		Title: driven(target, recipes), Version: versionText(), Started: time.Now(), First: first, Seeds: n.Seeds, Shard: n.Shard, Options: n.Each.options(recipes),
	}
	if err := resume(dir, night, n.Each.Seed != nil); err != nil {
		return err
	}
	left := night.Left(part, of)
	con.say("zkverify %s: %s, seeds %d to %d, %d of them to run, in %s", versionText(), night.Title, night.First, night.First+int64(night.Seeds)-1, len(left), dir)

	started, failed := time.Now(), 0
	var failure error
	for i, seed := range left {
		if ctx.Err() != nil || n.For > 0 && time.Since(started) >= n.For {
			break
		}
		con.say("seed %d: run %d of %d", seed, i+1, len(left))
		result, err := con.untilShown(ctx, dir, seedName(seed), func(out string) (*report.NightResult, error) {
			again := n.Each
			again.Seed, again.Out = &seed, out
			return again.logged(ctx, schedule)
		})
		if ctx.Err() != nil {
			break // half a run shows nothing
		}
		if result == nil {
			con.say("seed %d did not run: %v", seed, err)
			if failed++; failed == patienceWithEnsembles {
				failure = err
				break
			}
			continue
		}
		failed = 0
		if err != nil {
			return err
		}
		debug.FreeOSMemory()
		result.Memory = residentMemory()
		night.Results = append(night.Results, *result)
		if err := saveNight(dir, night); err != nil {
			return err
		}
		con.annotate(result)
		fmt.Fprintf(con.out, "seed %d: %s%s\n", seed, result, timeLeft(started, i+1, len(left)))
		if n.StopAtViolation && result.Outcome == checker.Violated {
			break
		}
	}
	if err := saveNight(dir, night); err != nil {
		return err
	}
	fmt.Fprintf(con.out, "\n%s\nto look at it: %s\n", night.Summary(part, of), filepath.Join(dir, report.NightPage))
	if failure != nil {
		return fmt.Errorf("%d runs in a row did not take place, the last one: %w", failed, failure)
	}
	if o := night.Outcome(part, of); ctx.Err() == nil || o == checker.Violated {
		return outcome(o)
	}
	return outcome(checker.Unknown)
}

// voidRuns is how many runs with a seed may show nothing, since their servers came
// to disagree, before it is given up.
const voidRuns = 2

// untilShown makes a run in a folder, and tidies it up. A void one is made again,
// and its folder kept under another name. The result is nil if the run did not take
// place.
func (con *console) untilShown(ctx context.Context, dir, name string, run func(out string) (*report.NightResult, error)) (*report.NightResult, error) {
	out := filepath.Join(dir, name)
	for void := []string(nil); ; {
		// What an interrupted night has left of it.
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

// resume takes what has been done in the folder into the night, if there is
// anything.
func resume(dir string, night *report.Night, seeded bool) error {
	old, err := report.ReadNight(filepath.Join(dir, nightlyFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return usage("--out: %w", err)
		}
		return nil
	case err != nil:
		return usage("--out: %w", err)
	case old.Differs(night) != "":
		return usage("--out: %s holds a night with another %s: give another folder, or the same options", dir, old.Differs(night))
	case seeded && old.First != night.First:
		return usage("--out: %s holds a night whose first seed is %d", dir, old.First)
	}
	night.First, night.Started, night.Results = old.First, old.Started, old.Results
	return nil
}

// logged makes a run whose words go to a file of its folder. The result is nil if it did not
// take place.
func (r *runCmd) logged(ctx context.Context, schedule *nemesis.Schedule) (_ *report.NightResult, err error) {
	log, err := os.Create(filepath.Join(r.Out, "run.log"))
	if err != nil {
		return nil, usage("--out: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	start := time.Now()
	judged, err := r.drive(ctx, &console{out: log, err: log}, schedule)
	if judged == nil {
		return nil, err
	}
	var o outcome
	if errors.As(err, &o) {
		err = nil
	}
	return report.ResultOf(*r.Seed, judged.header, judged.Report, time.Since(start)), err
}

// tidy removes the folder of a run that passed, and packs the history of any
// other.
func tidy(dir string, result *report.NightResult) error {
	if result.Passed() {
		return os.RemoveAll(dir)
	}
	result.Folder = filepath.Base(dir)
	return pack(filepath.Join(dir, historyFile))
}

// pack compresses a file.
func pack(path string) (err error) {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(path + ".zst")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	z, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, from); err != nil {
		return errors.Join(err, z.Close())
	}
	return errors.Join(z.Close(), os.Remove(path))
}

// saveNight writes the state, the page and the JUnit file.
func saveNight(dir string, night *report.Night) error {
	for name, write := range map[string]func(io.Writer) error{
		nightlyFile: night.WriteJSON, report.NightPage: night.WriteHTML, junitFile: night.JUnit().Write,
	} {
		// Whole or not at all: an interrupt must not cost what was found.
		half := filepath.Join(dir, "."+name)
		if err := writeTo(half, write); err != nil {
			return err
		}
		if err := os.Rename(half, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// annotate tells GitHub of a run that did not pass, where a workflow of it runs.
func (con *console) annotate(r *report.NightResult) {
	if os.Getenv("GITHUB_ACTIONS") == "true" && !r.Passed() {
		fmt.Fprintln(con.out, r.Annotation())
	}
}

func timeLeft(started time.Time, done, all int) string {
	if done == all {
		return ""
	}
	each := time.Since(started) / time.Duration(done)
	return fmt.Sprintf(" (about %s for the other %d)", (each * time.Duration(all-done)).Round(time.Second), all-done)
}
