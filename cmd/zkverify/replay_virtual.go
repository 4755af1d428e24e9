package main

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/simulation"
)

// virtual repeats a run in virtual time.
func (r *replayCmd) virtual(ctx context.Context, con *console, kept simulation.Kept) error {
	if r.Ensemble != "recorded" || r.ZooKeeper != "" {
		return usage("--ensemble and --zookeeper go with runs in real time: %s holds one in virtual time", r.Path)
	}
	spec := kept.Spec
	if err := within(map[string]int{"clients": spec.Clients, "locks": spec.Locks}, map[string]time.Duration{
		"duration": spec.Duration, "hold": spec.Mix.Hold, "patience": spec.Mix.Patience, "session timeout": spec.SessionTimeout,
	}); err != nil {
		return usage("%s: %w", r.Path, err)
	}
	program, _, err := virtualTime(simRun, 1)
	if err != nil {
		return err
	}
	fleet := simulation.Fleet{Subprocess: program, Jobs: 1, Look: simulation.Look{Trace: true, Until: kept.Until}, Made: madeBy(program)}
	if err := simulation.SameProgram(kept.Made, fleet.Made); err != nil {
		if !r.OtherVersion {
			return usage("%s was %w; --other-version runs its seed anyway", r.Path, err)
		}
		con.say("%s was %v", r.Path, err)
	}
	dir, times, err := r.runs()
	if err != nil {
		return err
	}
	con.say("replaying seed %d of %s in virtual time, plan %s, in %s; violated then: %s", kept.Spec.Seed, kept.Spec.Target, kept.Spec.Plan, dir, orNone(kept.Violated))
	return r.replayVirtual(ctx, con, fleet, kept, dir, times)
}

// replayVirtual repeats the run, the given number of times; if that is 0, without end.
func (r *replayCmd) replayVirtual(ctx context.Context, con *console, fleet simulation.Fleet, kept simulation.Kept, dir string, times int) error {
	worst, done, same := verdict.Holds, 0, 0
	for n := 1; times == 0 || n <= times; n++ {
		at := filepath.Join(dir, strconv.Itoa(n))
		o, err := fleet.Run(ctx, kept.Spec, at)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		done++
		text := "another run than the one that was kept"
		if o.Hash == kept.Hash {
			same++
			text = "the same run, message by message"
		}
		if o.Trouble != "" {
			con.tell("replay %d: the run failed: %s", n, o.Trouble)
		} else {
			con.tell("replay %d: %s: %s (%s)", n, o.Outcome, o.Reason, text)
		}
		worst = verdict.Worse(worst, o.Outcome)
		came := slices.ContainsFunc(o.Violated, func(g string) bool { return slices.Contains(kept.Violated, g) })
		if r.UntilViolated && (came || len(kept.Violated) == 0 && len(o.Violated) > 0) {
			break
		}
	}
	con.tell("the same run in %d of %s", same, words.Count(done, "replay"))
	con.tell("histories, messages and reports: %s", dir)
	return endOf(ctx, worst)
}
