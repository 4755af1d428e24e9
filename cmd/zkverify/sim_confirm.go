package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/folder"
	"github.com/zkverify/zkverify/workload/simulation"
)

// confirmations is the number of times that a run with a violation is repeated.
const confirmations = 2

// confirm repeats a run with a violation, looks for fewer faults that suffice, and for the choices
// that decided it, and prints the command that runs it again.
func (s *simCmd) confirm(ctx context.Context, con *console, fleet simulation.Fleet, dir string, o simulation.Outcome) error {
	scratch := filepath.Join(dir, "again")
	fleet.Look = simulation.Look{}
	same, violated, err := fleet.Again(ctx, o, scratch, confirmations)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("seed %d, plan %s, again: %d of %d runs did the same, message by message", o.Spec.Seed, o.Spec.Plan, same, confirmations)
	if !o.Exact {
		text += " (seeded, not exact: make build-sim builds the program that is)"
	}
	if same < confirmations {
		text += fmt.Sprintf(", %d violate the same", violated)
	}
	small := o.Spec
	if violated > 0 && len(o.Schedule.Steps) > 0 {
		con.say("seed %d, plan %s: looking for the faults that it takes, in at most %d runs", o.Spec.Seed, o.Spec.Plan, simulation.ShrinkRuns)
		runs := 0
		if small, runs, err = fleet.Shrink(ctx, o, scratch); err != nil {
			return err
		}
		file := filepath.Join(dir, o.Spec.Name(), "faults.yaml")
		err = folder.WriteFile(file, func(w io.Writer) error { return small.Schedule.WriteYAML(w, "") })
		if err != nil {
			return err
		}
		text += fmt.Sprintf("; %d of its %s are enough (%s, %s)", len(small.Schedule.Steps), words.Count(len(o.Schedule.Steps), "fault"), file, words.Count(runs, "run"))
	}
	decided, err := s.decide(ctx, con, fleet, filepath.Join(dir, o.Spec.Name()), o, small)
	if err != nil {
		return err
	}
	again := o.Spec.Command()
	if s.Schedule != "" {
		again += " --schedule " + s.Schedule
	}
	tell := con.tell
	if s.JSON {
		tell = con.say
	}
	tell("%s\n%sto run it again: zkverify %s\nor, with its messages: zkverify replay %s", text, decided, again, filepath.Join(dir, o.Spec.Name()))
	return os.RemoveAll(scratch)
}

// decide looks for the choices that decided the violation of a run, of which fewer faults are left,
// keeps them in the folder of the run, and returns them in lines.
func (s *simCmd) decide(ctx context.Context, con *console, fleet simulation.Fleet, dir string, o simulation.Outcome, small simulation.Spec) (string, error) {
	if !o.Exact {
		return "which choice decided it can be found out with zkverify-sim alone: only there the same run can go on otherwise\n", nil
	}
	con.say("seed %d, plan %s: looking for the choice that decided it, in at most %d runs and %v", o.Spec.Seed, o.Spec.Plan, simulation.DecideRuns, simulation.DecideFor)
	bar := newCountBar(con, simulation.DecideRuns, "%d of at most %d runs")
	d, err := fleet.Decide(ctx, small, o.Violated[0], filepath.Join(dir, simulation.DecidedFolder), func(runs int) {
		bar.update(runs, func() string {
			return fmt.Sprintf("%s of at most %d made", words.Count(runs, "run"), simulation.DecideRuns)
		})
	})
	bar.done()
	switch {
	case ctx.Err() != nil:
		return "which choice decided it was not found out: interrupted\n", nil
	case errors.Is(err, simulation.ErrOtherRun):
		return fmt.Sprintf("which choice decided it cannot be found out: %v\n", err), nil
	case err != nil:
		return "", err
	}
	if err := simulation.KeepDecision(dir, d); err != nil {
		return "", err
	}
	return strings.ReplaceAll(d.String(), "\n", "\n  ") + fmt.Sprintf(" (%s; that run, with its messages: %s)\n", words.Count(d.Runs, "run"), filepath.Join(dir, simulation.DecidedFolder)), nil
}
