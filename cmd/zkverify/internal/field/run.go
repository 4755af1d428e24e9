package field

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/runs"
	"github.com/zkverify/zkverify/workload/folder"
)

// runner makes runs by starting zkverify.
type runner struct {
	runs.Program
	dir string // of the field
}

// voidRuns is the number of times that a run which shows nothing is repeated.
const voidRuns = 2

// untilShown makes a run. It repeats a run with the outcome unknown, such as one on a machine that
// was too busy or with servers that came to disagree, if void returns true for it.
func (r runner) untilShown(ctx context.Context, p planned, below string, void func(Result) bool) (Result, error) {
	for again := 0; ; again++ {
		result, err := r.make(ctx, p, below)
		if err != nil || result.Outcome != verdict.Unknown || again == voidRuns || !void(result) {
			return result, err
		}
	}
}

// make makes a run in a folder below that of the field. The error is that of ctx, or one of the
// command line or the file system, which the next run would have too.
func (r runner) make(ctx context.Context, p planned, below string) (Result, error) {
	result := Result{Lock: p.Lock.id, Plan: p.Plan.Name, Seed: p.Seed, Command: p.Command(), Started: time.Now()}
	kept := filepath.Join(below, p.folder())
	out := filepath.Join(r.dir, kept)
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return result, err
	}
	said, failed := r.Start(ctx, p.env(), append(p.args(), "--out", out))
	if ctx.Err() != nil {
		return result, context.Cause(ctx) // half a run shows nothing
	}
	result.Took = time.Since(result.Started)
	err := result.read(out)
	switch {
	case err == nil:
		result.Folder = kept
		return result, os.WriteFile(filepath.Join(out, "run.log"), said, 0o644)
	case !errors.Is(err, fs.ErrNotExist):
		return result, err
	case failed == nil:
		return result, fmt.Errorf("%s wrote no %s", result.Command, folder.Verdict)
	}
	result.Missing = cmp.Or(runs.LastWords(said), failed.Error())
	if exit := new(exec.ExitError); errors.As(failed, &exit) && exit.ExitCode() == runs.BadUsage {
		return result, Refused{fmt.Errorf("%s: %s", result.Command, result.Missing)}
	}
	return result, os.RemoveAll(out)
}

// tellStories sets the story of each violation: it looks for the shortest part of the history that
// still violates the guarantee, and describes that part in words.
func (r runner) tellStories(ctx context.Context, result *Result) error {
	dir := filepath.Join(r.dir, result.Folder)
	for _, v := range result.violated() {
		short := filepath.Join(dir, strings.NewReplacer(" ", "-", ",", "", "/", "-").Replace(v.Guarantee)+".small.jsonl")
		if _, err := r.Start(ctx, nil, []string{"shrink", dir, "--guarantee", v.Guarantee, "--out", short}); ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil { // use the text in the run's verdict
			v.Story = v.What
			continue
		}
		said, err := r.Start(ctx, nil, []string{"explain", short, "--guarantee", v.Guarantee})
		if err != nil && len(said) == 0 {
			return fmt.Errorf("explain %s: %w", short, err)
		}
		text, err := os.ReadFile(short)
		if err != nil {
			return err
		}
		v.Story, v.Events = strings.TrimSpace(string(said)), max(0, bytes.Count(text, []byte("\n"))-1) // the first line is the header
	}
	return nil
}

// tidy removes the folders of runs that no page shows. The pages show, for each guarantee and lock,
// one violation over all plans and one under each plan.
func (r runner) tidy(s *State) error {
	keep := map[string]bool{}
	for i := range s.Results {
		of := &s.Results[i]
		for _, v := range of.violated() {
			same := func(r *Result, o Verdict) bool { return r.Lock == of.Lock && o.Guarantee == v.Guarantee }
			best, _ := s.shown(same)
			keep[best.Folder] = true
			best, _ = s.shown(func(r *Result, o Verdict) bool { return same(r, o) && r.Plan == of.Plan })
			keep[best.Folder] = true
		}
	}
	for i := range s.Results {
		if f := s.Results[i].Folder; f != "" && !keep[f] {
			if err := os.RemoveAll(filepath.Join(r.dir, f)); err != nil {
				return err
			}
			s.Results[i].Folder = ""
		}
	}
	return nil
}
