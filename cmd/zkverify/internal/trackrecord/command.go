// Package trackrecord implements zkverify track-record. It has a script for each known bug of
// ZooKeeper locks and servers, runs the scripts and records which bugs zkverify still catches.
package trackrecord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/campaign"
)

// Command is zkverify track-record.
type Command struct {
	Bug   []string `help:"Only these bugs, see --list; default all." placeholder:"NAME"`
	List  bool     `help:"List the bugs, and what shows each, and run nothing."`
	Tries int      `default:"5" help:"With how many seeds a script runs until it catches its bug."`
	Out   string   `default:"track-record" help:"Folder of the record. A record that was begun in it continues." placeholder:"DIR"`
	JSON  bool     `name:"json" help:"Print the record as JSON instead of lines."`
}

// Help is called by kong.
func (Command) Help() string {
	return words.WithExamples("Each bug has a script: a run with the library that has the bug, steps on servers that have it, or a mutant with the same mistake, and what must be caught. A bug that no version at hand has is named with the reason. The folder gets track-record.md and track-record.json, and what is kept of each try. The exit status is 0 if each bug that can be had was caught, 1 if one was not, 69 if a library or a version of the servers is missing, else 2.",
		"zkverify track-record",
		"zkverify track-record --bug CURATOR-621 --bug ZOOKEEPER-4925",
		"zkverify track-record --list")
}

// Validate is called by kong.
func (c *Command) Validate() error {
	if c.Tries < 1 {
		return fmt.Errorf("--tries must be at least 1, not %d", c.Tries)
	}
	return nil
}

// The outcomes of a record, which are errors.
var (
	// ErrEscaped is returned if a bug was not caught.
	ErrEscaped = errors.New("")
	// ErrMissing is returned if a program or library that a script needs is not installed.
	ErrMissing = errors.New("")
	// ErrIncomplete is returned if an interrupt came before all scripts had run.
	ErrIncomplete = errors.New("")
)

// Run makes the tries that are left. It returns ErrEscaped, ErrMissing, ErrIncomplete, a campaign.Refused,
// or an error of the file system.
func (c *Command) Run(ctx context.Context, out io.Writer, version campaign.Version) error {
	record, err := BuiltIn()
	if err != nil {
		return err
	}
	return c.run(ctx, out, version, record)
}

func (c *Command) run(ctx context.Context, out io.Writer, version campaign.Version, record *Record) error {
	bugs, err := record.named(c.Bug)
	if err != nil {
		return campaign.Refuse("--bug: %w", err)
	}
	if c.List {
		for _, b := range bugs {
			words.Fprintf(out, "%-22s %s\n", b.ID, listed(b))
		}
		return nil
	}
	s, err := load(c.Out)
	if err != nil {
		return campaign.Refuse("--out: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return campaign.Refuse("--out: %w", err)
	}
	if s.Started.IsZero() {
		s.Started = time.Now()
	}
	s.Version = string(version)
	lines := out
	if c.JSON {
		lines = io.Discard
	}
	failed := c.all(ctx, lines, &tester{Program: campaign.Program{Path: program}, dir: c.Out}, record, s, bugs)
	if err := errors.Join(failed, s.save(c.Out, record)); err != nil && ctx.Err() == nil {
		return err
	}
	if c.JSON {
		if err := campaign.JSON(s)(out); err != nil {
			return err
		}
	}
	return c.conclude(lines, s, bugs)
}

// listed returns the text for a bug in the list.
func listed(b Bug) string {
	if !b.Had() {
		return "not to be had: " + b.NotHad
	}
	return b.CaughtWith()
}

// all runs the script of each bug, and prints the result. A try that shows nothing is made again
// with the next seed; if it never shows anything, the script of its bug ends.
func (c *Command) all(ctx context.Context, out io.Writer, t *tester, record *Record, s *State, bugs []Bug) error {
	t.Say = func(text string) { words.Fprintf(out, "%s\n", text) }
	err := campaign.Make(ctx, &t.Campaign, func(yield func(attempt) bool) {
		for _, b := range bugs {
			if !b.Had() {
				continue
			}
			r := s.begin(b)
			for r.tries() < c.Tries && !r.over() {
				if !yield(attempt{b, r, r.next()}) {
					return
				}
			}
			words.Fprintf(out, "%s: %s\n", b.ID, told(b, r))
		}
	}, t.try, func(a attempt, made []Try) error {
		a.of.Tries = append(a.of.Tries, made...)
		return s.save(t.dir, record)
	})
	for _, b := range bugs {
		if !b.Had() {
			words.Fprintf(out, "%s: not to be had: %s\n", b.ID, b.NotHad)
		}
	}
	return err
}

// told returns the result of a bug's script in a line.
func told(b Bug, r *Result) string {
	last := r.last()
	switch {
	case last == nil:
		return "not run"
	case last.Missing != "":
		return fmt.Sprintf("not run, %s; needs: %s", last.Missing, b.Needs)
	case last.Caught:
		return fmt.Sprintf("caught by try %d in %.0f s, %s: %s", r.tries(), last.Took.Seconds(), last.Verdict, last.What)
	}
	if r.tries() == 0 {
		return fmt.Sprintf("not put to the test by %s, the last time: %s", words.Count(len(r.Tries), "run"), last.Instead)
	}
	return fmt.Sprintf("escaped %s, the last time: %s", words.Times(r.tries()), last.Instead)
}

// conclude prints the totals, and returns the outcome.
func (c *Command) conclude(out io.Writer, s *State, bugs []Bug) error {
	had, caught, escaped, missing, left := 0, 0, 0, 0, 0
	for _, b := range bugs {
		if !b.Had() {
			continue
		}
		had++
		switch r := s.of(b); {
		case r.caught():
			caught++
		case r.missing() != "":
			missing++
		case r == nil || r.tries() < c.Tries:
			left++
		default:
			escaped++
		}
	}
	words.Fprintf(out, "\n%d of %d bugs were caught, %d escaped, %d need what is not installed, %d were not tried to the end; %d cannot be had; see %s\n",
		caught, had, escaped, missing, left, len(bugs)-had, filepath.Join(c.Out, pageFile))
	switch {
	case escaped > 0 && left == 0:
		return ErrEscaped
	case left > 0:
		return ErrIncomplete
	case missing > 0:
		return ErrMissing
	}
	return nil
}
