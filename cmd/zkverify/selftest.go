package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/folder"
	"github.com/zkverify/zkverify/workload/selftest"
	"github.com/zkverify/zkverify/workload/targets"
)

// matrixFile is the file with the results of a self-test, in its folder.
const matrixFile = "matrix.json"

// selftestCmd tests zkverify itself, with mutants.
type selftestCmd struct {
	Only   []string `help:"Mutants or provocations, comma-separated; all by default. See zkverify list mutants." placeholder:"NAME"`
	Recipe []string `help:"Mutants of these recipes alone, comma-separated; default all." placeholder:"NAME"`
	Out    string   `help:"Folder for the matrix, the servers' logs and the histories of what went wrong, made if need be; default runs/<time>-selftest." placeholder:"DIR"`
	Seed   *int64   `help:"Seed of every run; default drawn, and printed."`
	JUnit  string   `name:"junit" help:"Write JUnit XML here; default junit.xml in the folder." placeholder:"FILE"`
	JSON   bool     `help:"Print the matrix as JSON instead of a table."`
	Seeds  int      `default:"3" help:"With how many seeds a mutant runs until it is caught; default 3. The recipe as it is must pass with the first, on simulated servers with all of them." placeholder:"N"`
	Jobs   int      `help:"How many mutants at a time on simulated servers, each in a process of its own; default one for each processor. On others they run one after the other."`

	Servers ensembleFlags `embed:""`
}

func (selftestCmd) Help() string {
	return words.WithExamples("Every mutant, a copy of the recipes with one deliberate bug, runs through what provokes the bug and must be caught by the guarantee that the bug breaks. The recipes as they are run through the same and must pass. The exit status is 0 if all that is so, 1 if not, 2 if it was interrupted or part of it cannot be run on these servers.",
		"zkverify selftest",
		"zkverify selftest --only mutant-inner-release,reentry")
}

// servers returns the flags of the servers, with the session timeout of the provocations.
func (s *selftestCmd) servers() serversFlags {
	return serversFlags{ensembleFlags: s.Servers, SessionTimeout: selftest.SessionTimeout}
}

// Validate is called by kong.
func (s *selftestCmd) Validate() error {
	if s.Servers.Tick > selftest.SessionTimeout/2 {
		return fmt.Errorf("--tick must be at most %v, for sessions of %v", selftest.SessionTimeout/2, selftest.SessionTimeout)
	}
	if err := s.Servers.validate(); err != nil {
		return err
	}
	switch {
	case s.Seeds < 1:
		return fmt.Errorf("--seeds must be at least 1, not %d", s.Seeds)
	case !s.virtual() && s.Jobs != 0:
		return errors.New("--jobs goes with --ensemble simulated")
	case !s.virtual():
		return nil
	case s.Jobs < 0:
		return fmt.Errorf("--jobs must not be negative, not %d", s.Jobs)
	case s.virtual() && s.Servers.Voters != 3:
		return errors.New("--voters goes with real servers: simulated ones are always three")
	case s.Servers.AuthFile != "" || s.Servers.Toxiproxy != "" || len(s.Servers.ClientPorts) > 0:
		return errors.New("--auth-file, --toxiproxy and --client-ports do not go with --ensemble simulated here: nothing listens in virtual time")
	}
	return nil
}

// virtual reports whether mutants run in virtual time.
func (s *selftestCmd) virtual() bool { return s.Servers.kind() == "simulated" }

// provocations returns the provocations that the flags name.
func (s *selftestCmd) provocations() ([]selftest.Provocation, error) {
	var of []histories.Recipe
	for _, name := range s.Recipe {
		r := histories.Recipe(name)
		if !slices.Contains(histories.Recipes(), r) {
			return nil, usageError{workload.UnknownRecipe(name)}
		}
		of = append(of, r)
	}
	all, err := selftest.Select(s.Only, of)
	if err == nil && !targets.HaveMutants && slices.ContainsFunc(all, selftest.Provocation.HasMutants) {
		err = targets.ErrNoMutants
	}
	if err != nil {
		return nil, usageError{err}
	}
	return all, nil
}

func (s *selftestCmd) Run(ctx context.Context, con *console) (err error) {
	provocations, err := s.provocations()
	if err != nil {
		return err
	}
	seed := nemesis.DrawSeed()
	if s.Seed != nil {
		seed = *s.Seed
	}
	started := time.Now()
	dir, err := makeFolder(s.Out, started, "selftest")
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, matrixFile)); err == nil {
		return usage("--out: %s already holds a self-test: choose another --out, or remove it", dir)
	}
	con.say("zkverify %s: self-test, seed %d, in %s", versionText(), seed, dir)
	bar := &trials{con: con}
	config := selftest.Config{Provocations: provocations, Seed: seed, Seeds: s.Seeds, Dir: dir, Began: bar.began, Ended: bar.ended, Progress: bar.stands}
	env, err := s.where(ctx, con, &config, runID(started, seed))
	if err != nil {
		os.Remove(dir)
		return err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	matrix, runErr := selftest.Run(ctx, config)
	bar.clear()
	if s.JSON {
		err = matrix.JSON(con.out)
	} else {
		err = matrix.Text(con.out, con.style(false).Width)
	}
	junit := s.JUnit
	if junit == "" {
		junit = filepath.Join(dir, folder.JUnit)
	}
	err = errors.Join(runErr, err,
		folder.WriteFile(filepath.Join(dir, matrixFile), matrix.JSON),
		folder.WriteFile(junit, matrix.JUnit))
	con.say("matrix and logs: %s", dir)
	switch wrong := matrix.Wrong(); {
	case err != nil:
		return err
	case slices.ContainsFunc(wrong, func(t selftest.Trial) bool { return !t.NotRun }):
		return outcome(verdict.Violated)
	case !matrix.OK():
		return outcome(verdict.Unknown)
	}
	return nil
}

// where sets up the environment of the trials, which the caller must close. It sets in c the
// environment, the command of workers and, for virtual time, the program of the trials.
func (s *selftestCmd) where(ctx context.Context, con *console, c *selftest.Config, runID string) (*environment, error) {
	worker, err := workerFlags{N: 1}.workers(c.Dir)
	if err != nil {
		return nil, err
	}
	c.Worker = worker.Command
	env := &environment{}
	if s.virtual() {
		program, jobs, err := virtualTime(selftestRun, s.Jobs)
		if err != nil {
			return nil, err
		}
		c.Virtual = &selftest.Virtual{Subprocess: program, Jobs: jobs, Servers: selftest.Servers{ZooKeeper: s.Servers.ZooKeeper, Tick: s.Servers.Tick, SyncLimit: s.Servers.SyncLimit}}
		con.say("on simulated ZooKeeper servers, in virtual time, %s at a time: what is found on them is to be confirmed on real ones", words.Count(jobs, "run"))
	}
	if slices.ContainsFunc(c.Provocations, func(p selftest.Provocation) bool { return !c.Virtual.Can(p) }) {
		servers := s.servers()
		if env, err = servers.open(ctx, con, c.Dir, runID); err != nil {
			return nil, err
		}
	}
	c.Ensemble, c.Network, c.Auth = env.ensemble, env.network, env.auth
	return env, nil
}

// selftestRun is the internal command that runs one trial in virtual time.
const selftestRun = "selftest-run"

// selftestRunCmd runs one trial, in a process of its own.
type selftestRunCmd struct{}

func (selftestRunCmd) Run() error {
	selftest.Host(versionText(), os.Stdin, os.Stdout)
	return nil
}

// trials shows the progress of a self-test: in place on a terminal, else by a
// line for each trial.
type trials struct {
	con *console
	bar *progress // of the current trial; nil if there is no terminal
}

func (p *trials) began(n, of int, t selftest.Trial) {
	text := fmt.Sprintf("%d of %d: %s, %s", n, of, t.Provocation, t.Target)
	if p.con.terminal {
		p.bar = newProgress(&console{live: p.con, label: text})
		return
	}
	p.con.say("%s", text)
}

func (p *trials) stands(now workload.Progress) {
	if p.bar != nil {
		p.bar.update(now)
	}
}

func (p *trials) ended(t selftest.Trial) {
	p.clear()
	if !t.OK {
		p.con.say("%s", t.Sentence())
	}
}

// clear removes the line of the current trial from the terminal.
func (p *trials) clear() {
	if p.bar != nil {
		p.bar.done()
		p.bar = nil
	}
}
