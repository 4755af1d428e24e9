package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/help"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/folder"
	"github.com/zkverify/zkverify/workload/selftest"
)

// matrixFile is left by a self-test in its folder.
const matrixFile = "matrix.json"

// selftestCmd verifies the verifier.
type selftestCmd struct {
	Only   []string `help:"Mutants or provocations, comma-separated; all by default. See zkverify list mutants." placeholder:"NAME"`
	Recipe []string `help:"Mutants of these recipes alone, comma-separated; default all." placeholder:"NAME"`
	Out    string   `help:"Folder for the matrix, the servers' logs and the histories of what went wrong, made if need be; default runs/<time>-selftest." placeholder:"DIR"`
	Seed   *int64   `help:"Seed of every run; default drawn, and printed."`
	JUnit  string   `name:"junit" help:"Write JUnit XML here; default junit.xml in the folder." placeholder:"FILE"`
	JSON   bool     `help:"Print the matrix as JSON instead of a table."`

	Servers ensembleFlags `embed:""`
}

func (selftestCmd) Help() string {
	return help.WithExamples("Every mutant, a copy of the recipes with one deliberate bug, runs through what provokes the bug and must be caught by the guarantee that the bug breaks. The recipes as they are run through the same and must pass. The exit status is 0 if all that is so, 1 if not, 2 if it was interrupted or part of it cannot be run on these servers.",
		"zkverify selftest",
		"zkverify selftest --only mutant-inner-release,reentry")
}

// servers are the flags with the sessions that the provocations have.
func (s *selftestCmd) servers() serversFlags {
	return serversFlags{ensembleFlags: s.Servers, SessionTimeout: selftest.SessionTimeout}
}

// Validate is called by kong.
func (s *selftestCmd) Validate() error {
	if s.Servers.Tick > selftest.SessionTimeout/2 {
		return fmt.Errorf("--tick must be at most %v, for sessions of %v", selftest.SessionTimeout/2, selftest.SessionTimeout)
	}
	return s.Servers.validate()
}

// provocations returns those that the flags name.
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
	seed := rand.Int64N(1e9)
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
	servers := s.servers()
	env, err := servers.open(ctx, con, dir, runID(started, seed))
	if err != nil {
		os.Remove(dir)
		return err
	}
	defer func() { err = errors.Join(err, env.Close()) }()

	worker, err := workerFlags{N: 1}.workers(dir)
	if err != nil {
		return err
	}
	bar := &trials{con: con}
	matrix, runErr := selftest.Run(ctx, selftest.Config{
		Ensemble: env.ensemble, Network: env.network, Auth: env.auth, Provocations: provocations, Seed: seed, Dir: dir, Worker: worker.Command,
		Began: bar.began, Ended: bar.ended, Progress: bar.stands,
	})
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

// trials tells how a self-test is getting on: in place on a terminal, else a
// line for each trial.
type trials struct {
	con *console
	bar *progress // of the trial that is under way; nil if there is no terminal
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

// clear removes the line that is in place.
func (p *trials) clear() {
	if p.bar != nil {
		p.bar.done()
		p.bar = nil
	}
}
