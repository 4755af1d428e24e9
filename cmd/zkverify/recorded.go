package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/selftest"
)

// A history may come from an untrusted source. So a replay takes from it the options of the run,
// within bounds, and none that names a program, a file or a server: zkverify would run, read or
// call it.

// ofTheRun are the options that describe a run: its target, its clients, its duration and the
// kind of its servers.
var ofTheRun = []string{
	"recipe", "target", "duration", "clients", "locks", "faults", "workers",
	"ensemble", "session-timeout", "tick", "sync-limit", "voters", "reconfig", "observers",
	"hold", "patience", "try", "timeout", "cancel", "reenter", "long", "hold-on", "crash", "race", "guarded", "options",
}

// most and longest bound the counts and the durations that a replay takes from a history.
var most = map[string]int{"clients": 1000, "locks": 1000, "workers": 100}

const longest = 24 * time.Hour

// recorded returns the run command that a history was recorded with. left holds the options that
// it does not take from the history, as they stand there.
func recorded(header histories.Header) (run *runCmd, left []string, err error) {
	if header.Target == "" || len(header.Options) == 0 {
		return nil, nil, errors.New("it does not say with which options it was recorded, so it cannot be run again")
	}
	var c struct {
		Run runCmd `cmd:""`
	}
	parser, err := kong.New(&c, kong.Name("zkverify"), kong.Exit(func(int) {}), helpVars())
	if err != nil {
		return nil, nil, err
	}
	args := []string{"run", fmt.Sprintf("--seed=%d", header.Seed)}
	provocation, known := "", []string{"zookeeper"} // another machine may have it elsewhere, or not at all
	for _, name := range slices.Sorted(maps.Keys(header.Options)) {
		switch value := header.Options[name]; {
		case name == "provocation":
			provocation = value
		case slices.Contains(ofTheRun, name):
			args = append(args, "--"+name+"="+value)
		case !slices.Contains(known, name):
			left = append(left, fmt.Sprintf("--%s %q", strings.Trim(fmt.Sprintf("%q", name), `"`), value))
		}
	}
	if header.Ensemble == "external" {
		args = append(args, "--ensemble=external", "--servers=history:1") // replaced by those that the user names
	}
	if provocation != "" {
		args = append(args, "--target="+header.Target, "--recipe="+header.Recipe, "--session-timeout="+header.SessionTimeout.String())
	}
	if _, err := parser.Parse(args); err != nil {
		return nil, nil, fmt.Errorf("its options: %w", err)
	}
	run = &c.Run
	run.Servers.Addresses = nil
	if provocation != "" {
		all, err := selftest.Select([]string{provocation}, nil)
		if err != nil {
			return nil, nil, err
		}
		run.again = &again{all[0].Config}
		run.Duration = all[0].Config.Duration
		run.Workers.N = all[0].Config.Workers.N
		clients := max(all[0].Config.Clients, 1)
		run.Clients = &clients
	}
	return run, left, bounded(run)
}

// bounded returns an error if a run is larger than a replay may be.
func bounded(run *runCmd) error {
	counts := map[string]int{"workers": run.Workers.N}
	for name, n := range map[string]*int{"clients": run.Clients, "locks": run.Locks} {
		if n != nil {
			counts[name] = *n
		}
	}
	return within(counts, map[string]time.Duration{
		"duration": run.Duration, "hold": run.Mix.Hold, "patience": run.Mix.Patience, "session-timeout": run.Servers.SessionTimeout,
	})
}

// within returns an error for the first value that exceeds the bounds of a replay.
func within(counts map[string]int, spans map[string]time.Duration) error {
	for name, n := range counts {
		if n > most[name] {
			return fmt.Errorf("it was recorded with %d %s: a replay has %d at most (zkverify run has as many as you like)", n, name, most[name])
		}
	}
	for name, d := range spans {
		if d > longest {
			return fmt.Errorf("it was recorded with a %s of %v: a replay has %v at most", name, d, longest)
		}
	}
	return nil
}
