package trackrecord

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/folder"
)

// Try is the result of a script with one seed.
type Try struct {
	campaign.Result
	Caught bool `json:"caught"`
	// Verdict is the violated guarantee, or the kind of finding about the servers. What is the
	// text of the first witness.
	Verdict string `json:"verdict,omitempty"`
	What    string `json:"what,omitempty"`
	// Instead is the outcome of the try, if the bug was not caught.
	Instead string `json:"instead,omitempty"`
	// Void reports whether the try shows nothing: it left no verdict, or was no evidence against
	// the lock.
	Void bool `json:"void,omitempty"`
}

// attempt is a script, the result of its bug until now, and the seed to run it with.
type attempt struct {
	Bug
	of   *Result
	seed int64
}

// tester makes tries.
type tester struct {
	campaign.Program
	campaign.Campaign
	dir string // of the record
}

// scheduleFile is the file with the schedule of a try's faults.
const scheduleFile = "schedule.yaml"

// try makes a try, and returns the tries that it took: those before the last have shown nothing.
func (t *tester) try(ctx context.Context, a attempt) (made []Try, err error) {
	err = t.UntilShown(ctx, a.ID, func(again int) (void string, err error) {
		one, err := t.once(ctx, a.Bug, a.seed+int64(again))
		if made = append(made, one); one.Void {
			void = one.Instead
		}
		return void, err
	})
	return made, err
}

// once runs a script once. The error is that of ctx, or one of the file system.
func (t *tester) once(ctx context.Context, b Bug, seed int64) (Try, error) {
	out := filepath.Join(t.dir, folderOf(b, seed))
	if err := campaign.Fresh(out); err != nil {
		return Try{}, err
	}
	one := Try{Result: campaign.Result{Seed: seed, Command: command(b, seed), Started: time.Now()}}
	var err error
	switch {
	case b.Steps != nil:
		err = one.steps(ctx, b, out)
	case b.Mutant != "":
		err = t.mutant(ctx, &one, b, out)
	default:
		err = t.run(ctx, &one, b, out)
	}
	one.Took = time.Since(one.Started)
	if err == nil && one.Missing != "" {
		err = os.RemoveAll(out)
	}
	return one, err
}

// folderOf returns the folder of a try, below that of the record.
func folderOf(b Bug, seed int64) string {
	return filepath.Join("tries", strings.NewReplacer(" ", "-", "#", "", "/", "-").Replace(b.ID)+"-"+strconv.FormatInt(seed, 10))
}

// args returns the arguments of zkverify for a script, nil for steps.
func args(b Bug, seed int64) []string {
	text := strconv.FormatInt(seed, 10)
	switch {
	case b.Mutant != "":
		return []string{"selftest", "--ensemble", "local", "--only", b.Mutant, "--seeds", "1", "--seed", text}
	case b.Run != nil:
		return append(append([]string{"run"}, b.Run.Options...), "--seed", text)
	}
	return nil
}

// command returns the shell command for a single try. For steps and schedules, it is zkverify
// track-record itself.
func command(b Bug, seed int64) string {
	if b.Steps != nil || b.Run != nil && b.Run.Schedule != "" {
		return b.Command()
	}
	var env []string
	if b.Run != nil {
		env = b.Run.Environment
	}
	return campaign.Command(env, args(b, seed))
}

// steps carries out the steps of a bug.
func (t *Try) steps(ctx context.Context, b Bug, out string) error {
	found, err := carryOut(ctx, *b.Steps, out)
	switch {
	case errors.Is(err, ensemble.ErrNoJava), errors.Is(err, ensemble.ErrNoZooKeeper), errors.Is(err, ensemble.ErrNoVersion):
		t.Missing = err.Error()
		return nil
	case err != nil:
		t.Instead, t.Void = err.Error(), true
		return nil
	}
	for _, f := range found {
		if f.Kind == b.Steps.Shows && !t.Caught {
			t.Caught, t.Verdict, t.What = true, string(f.Kind), f.What
		} else if !t.Caught {
			t.Instead = cmp.Or(t.Instead, string(f.Kind)+": "+f.What)
		}
	}
	if t.Instead = cmp.Or(t.Instead, "nothing is wrong with the servers"); t.Caught {
		t.Instead = ""
	}
	return nil
}

// start runs a command of zkverify, and reports whether it may have left a verdict.
func (t *tester) start(ctx context.Context, one *Try, env, args []string) (left bool, err error) {
	ended, err := t.Start(ctx, env, args)
	switch {
	case err != nil:
	case ended.Status == campaign.Unavailable:
		one.Missing = ended.LastWords()
	case ended.Status == campaign.BadUsage: // also the status if a worker does not begin, as on a busy machine
		one.Instead, one.Void = ended.LastWords(), true
	default:
		left = true
	}
	return left, err
}

// mutant makes a try that is a self-test with the mutant of a bug.
func (t *tester) mutant(ctx context.Context, one *Try, b Bug, out string) error {
	if left, err := t.start(ctx, one, nil, append(args(b, one.Seed), "--out", out)); !left {
		return err
	}
	text, err := os.ReadFile(filepath.Join(out, "matrix.json"))
	if err != nil {
		one.Instead, one.Void = "the self-test left no matrix", true
		return ignoreMissing(err)
	}
	var matrix struct {
		Trials []struct {
			Target, Guarantee, Why, First string
			OK                            bool
		}
	}
	if err := json.Unmarshal(text, &matrix); err != nil {
		return err
	}
	one.Instead = "the mutant was not tried"
	for _, trial := range matrix.Trials {
		switch {
		case trial.Target != b.Mutant:
		case trial.OK:
			one.Caught, one.Verdict, one.What, one.Instead = true, trial.Guarantee, trial.First, ""
		default:
			one.Instead = trial.Why
		}
	}
	return nil
}

// ignoreMissing returns err, but nil if a file does not exist.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// run makes a try that is a run with the lock of a bug.
func (t *tester) run(ctx context.Context, one *Try, b Bug, out string) error {
	all := append(args(b, one.Seed), "--out", out)
	if b.Run.Schedule != "" {
		file := filepath.Join(out, scheduleFile)
		if err := os.WriteFile(file, []byte(b.Run.Schedule), 0o644); err != nil {
			return err
		}
		all = append(all, "--schedule", file)
	}
	if one.Missing = b.Run.workerMissing(); one.Missing != "" {
		return nil
	}
	if left, err := t.start(ctx, one, b.Run.Environment, all); !left {
		return err
	}
	var judged campaign.Result
	verdicts, err := judged.Read(out)
	if err != nil {
		one.Instead, one.Void = "the run left no verdict", true
		return ignoreMissing(err)
	}
	if one.Missing, err = b.Run.otherLock(out); one.Missing != "" || err != nil {
		return err
	}
	b.Run.judge(one, judged, verdicts)
	return nil
}

// judge records in one whether the verdicts of a run show the bug.
func (r Run) judge(one *Try, judged campaign.Result, verdicts []campaign.Verdict) {
	for _, v := range verdicts {
		struck := len(r.Faults) == 0 || slices.ContainsFunc(v.Faults, func(name string) bool { return slices.Contains(r.Faults, name) })
		// A run with the outcome unknown, as when the servers disagree, is no evidence.
		if judged.Outcome == verdict.Violated && v.Violated() && struck && slices.Contains(r.Guarantees, v.Guarantee) {
			one.Caught, one.Verdict, one.What = true, v.Guarantee, v.What
			return
		}
	}
	one.Void = judged.Outcome == verdict.Unknown
	one.Instead = strings.TrimSuffix(string(judged.Outcome)+": "+judged.Reason, ": ")
}

// workerMissing returns the reason why the run cannot take place if its worker program does not
// exist, "" if it does.
func (r Run) workerMissing() string {
	i := slices.Index(r.Options, "--worker-command")
	if i < 0 || i+1 == len(r.Options) {
		return ""
	}
	program, _, _ := strings.Cut(r.Options[i+1], " ")
	if _, err := os.Stat(program); strings.Contains(program, "/") && err != nil {
		return program + " is not there: run this in a checkout of zkverify"
	}
	return ""
}

// otherLock names the lock that the run has driven if it is not the lock with the bug, "" if it
// is.
func (r Run) otherLock(out string) (string, error) {
	f, err := os.Open(filepath.Join(out, folder.History))
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil {
		return "", err
	}
	var header struct{ Target string }
	if err := json.Unmarshal(line, &header); err != nil {
		return "", err
	}
	if !strings.HasPrefix(header.Target, r.Hosts) {
		return fmt.Sprintf("the lock is %s, not %s", header.Target, r.Hosts), nil
	}
	return "", nil
}
