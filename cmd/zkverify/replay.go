package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload/simulation"
)

// replayCmd runs a history again.
type replayCmd struct {
	Path          string `arg:"" name:"dir-or-file" help:"Folder of a run, or a history file (.jsonl, .jsonl.zst)."`
	Times         int    `help:"How often; default once, or with --until-violated as often as it takes." placeholder:"N"`
	UntilViolated bool   `help:"Stop as soon as a guarantee that was violated is violated again."`
	Out           string `help:"Folder for the runs, 1, 2, …, made if need be; default runs/<time>-replay." placeholder:"DIR"`

	OtherVersion bool `help:"Of a run in virtual time that another version of zkverify, or of Go, has made: run its seed anyway, which may make another run."`

	Ensemble  string `enum:"recorded,local,simulated" default:"recorded" help:"recorded: servers of the kind that the history was recorded with; local, simulated: these instead." placeholder:"KIND"`
	ZooKeeper string `name:"zookeeper" help:"Version, jar or folder of the ZooKeeper that local servers run, or version that is simulated; default that of the history, if it is installed or can be simulated." placeholder:"VERSION"`

	Here          hereFlags `embed:"" group:"What is on this machine, which no history says:"`
	UpgradeTo     string    `help:"Another version of ZooKeeper, for the fault rolling-upgrade; default none, and no such fault." placeholder:"VERSION" group:"What is on this machine, which no history says:"`
	WorkerCommand string    `help:"Command of a worker process, if the history was recorded with worker processes; default zkverify worker." placeholder:"COMMAND" group:"What is on this machine, which no history says:"`

	Engines engineFlags `embed:"" prefix:"judge-" group:"How it is judged:"`
	Bounds  readFlags   `embed:"" group:"What it may cost to read the history:"`
}

func (replayCmd) Help() string {
	return words.WithExamples("What clients do, seed, target and recipes are those of the history, and so are the faults: each begins at the same time, lasts as long, is aimed at the same state and has the same details. The order of concurrent requests is not defined, so a violation may not come back the first time. A run in virtual time is run again by its seed, and comes back message by message if this is the program that made it, on a seeded runtime; every message goes to trace.txt. The exit status is 1 if a guarantee was violated in any replay, 0 if all held in each, else 2.",
		"zkverify replay runs/20260102-150405-zk-lock --times 10")
}

// Validate is called by kong.
func (r *replayCmd) Validate() error {
	if r.Times < 0 {
		return fmt.Errorf("--times must be positive, not %d", r.Times)
	}
	return nil
}

func (r *replayCmd) Run(ctx context.Context, con *console) error {
	if kept, err := simulation.ReadKept(r.Path); simulation.IsKept(err) {
		if err != nil {
			return usageError{err}
		}
		return r.virtual(ctx, con, kept)
	}
	var file string
	var h *histories.History
	var old *checker.Report
	if err := r.Bounds.within(ctx, func(ctx context.Context) (err error) {
		if file, h, err = r.Bounds.readHistory(ctx, r.Path); err != nil {
			return err
		}
		if old, err = checker.Check(ctx, h, checker.WithEngine(checker.Interval)); err != nil {
			return refusal(file, err)
		}
		return nil
	}); err != nil {
		return err
	}
	schedule, err := nemesis.FromHistory(h, faults.List())
	if err != nil {
		return usage("%s: %w", file, err)
	}
	run, left, err := recorded(h.Header)
	if err != nil {
		return usage("%s: %w", file, err)
	}
	run.Engines, run.Workers.WorkerCommand = r.Engines, r.WorkerCommand
	if command, ok := h.Header.Options["worker-command"]; ok && r.WorkerCommand == "" {
		return usage("%s was recorded with workers that are another program, %q: if you trust it, give its command by --worker-command", file, command)
	}
	if len(left) > 0 {
		con.say("not taken from the history, which may be untrusted: %s", strings.Join(left, ", "))
	}
	if err := r.choose(&run.Servers, h.Header.ZooKeeper); err != nil {
		return usage("%s: %w", file, err)
	}
	if err := run.Servers.installed(schedule.Names(faults.List())); err != nil {
		return err
	}
	dir, times, err := r.runs()
	if err != nil {
		return err
	}
	before := violated(old)
	con.say("replaying %s of %s, seed %d, %s, in %s: %s; violated then: %s", h.Header.Recipe, h.Header.Target, h.Header.Seed, run.Duration, dir, words.Count(len(schedule.Steps), "fault"), orNone(before))
	return r.replay(ctx, con, run, schedule, dir, times, before, h.Header.ZooKeeper)
}

// choose sets the servers of the replay: those of the history, unless the flags name
// others.
func (r *replayCmd) choose(f *serversFlags, recorded string) error {
	if r.Ensemble != "recorded" && r.Ensemble != f.kind() {
		f.ensembleFlags = ensembleFlags{Ensemble: r.Ensemble, Voters: f.Voters, Tick: f.Tick, SyncLimit: f.SyncLimit}
	}
	f.hereFlags, f.UpgradeTo = r.Here, r.UpgradeTo
	if f.kind() == "external" && len(f.Addresses) == 0 {
		return errors.New("it was recorded on servers that somebody ran: name yours by --servers, or start some by --ensemble local")
	}
	switch f.kind() {
	case "local":
		f.ZooKeeper = r.zooKeeper(recorded)
	case "simulated":
		if f.ZooKeeper = r.ZooKeeper; f.ZooKeeper == "" && slices.Contains(simulated.Versions(), recorded) {
			f.ZooKeeper = recorded
		}
	default:
		if r.ZooKeeper != "" {
			return fmt.Errorf("--zookeeper goes with local and simulated servers, not with those of the history (%s)", f.kind())
		}
	}
	return f.validate()
}

// zooKeeper returns the ZooKeeper to run: the one that --zookeeper names, else the recorded version
// if it is installed and the environment names none, else "" for the default.
func (r *replayCmd) zooKeeper(recorded string) string {
	if r.ZooKeeper != "" || os.Getenv("ZKVERIFY_ZOOKEEPER") != "" || os.Getenv("ZOOKEEPER_HOME") != "" {
		return r.ZooKeeper
	}
	for _, i := range ensemble.Installations() {
		if i.Version == recorded {
			return recorded
		}
	}
	return ""
}

// replay runs the history again, the given number of times; if that is 0, without end.
func (r *replayCmd) replay(ctx context.Context, con *console, run *runCmd, schedule nemesis.Schedule, dir string, times int, before []string, zooKeeper string) error {
	worst, done := verdict.Holds, 0
	back := make(map[string]int)
	for n := 1; (times == 0 || n <= times) && ctx.Err() == nil; n++ {
		again := *run
		again.Out = filepath.Join(dir, strconv.Itoa(n))
		ran, err := again.drive(ctx, &console{out: io.Discard, err: io.Discard, live: con, label: replayOf(n, times)}, &schedule)
		if ctx.Err() != nil {
			break // half a run shows nothing
		}
		var o outcome
		if err != nil && !errors.As(err, &o) {
			return fmt.Errorf("replay %d: %w", n, err)
		}
		if v := ran.header.ZooKeeper; done == 0 && v != zooKeeper && zooKeeper != "" {
			con.say("it was recorded with ZooKeeper %s; this is %s", zooKeeper, v)
		}
		done++
		worst = verdict.Worse(worst, ran.Outcome())
		now := violated(ran.Report)
		came := slices.DeleteFunc(slices.Clone(before), func(g string) bool { return !slices.Contains(now, g) })
		for _, g := range came {
			back[g]++
		}
		con.tell("replay %d: %s: %s", n, ran.Outcome(), ran.Reason())
		if r.UntilViolated && (len(came) > 0 || len(before) == 0 && len(now) > 0) {
			break
		}
	}
	for _, g := range before {
		con.tell("%s came back in %d of %s", g, back[g], words.Count(done, "replay"))
	}
	con.tell("histories, verdicts and logs: %s", dir)
	return endOf(ctx, worst)
}

// runs makes the folder of the replays, and returns their number; 0 for as many as it takes.
func (r *replayCmd) runs() (dir string, times int, err error) {
	times = r.Times
	if times == 0 && !r.UntilViolated {
		times = 1
	}
	dir, err = makeFolder(r.Out, time.Now(), "replay")
	return dir, times, err
}

// endOf returns the outcome of replays whose worst outcome is given. ctx has ended if they were
// interrupted.
func endOf(ctx context.Context, worst verdict.Outcome) error {
	if ctx.Err() != nil && worst != verdict.Violated {
		return outcome(verdict.Unknown)
	}
	return outcome(worst)
}

// replayOf names a replay by its number.
func replayOf(n, times int) string {
	if times == 0 {
		return fmt.Sprintf("replay %d", n)
	}
	return fmt.Sprintf("replay %d of %d", n, times)
}

// violated returns the names of the violated guarantees.
func violated(r *checker.Report) (names []string) {
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Outcome == verdict.Violated {
			names = append(names, v.Guarantee)
		}
	}
	return names
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
