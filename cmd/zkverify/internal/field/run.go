package field

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/folder"
)

// runner makes runs by starting zkverify.
type runner struct {
	campaign.Program
	*campaign.Campaign
	dir string // of the field
}

// newRunner returns a runner whose runs are of this program, jobs at a time. It prints messages to
// out.
func newRunner(dir string, out io.Writer, jobs int) (runner, error) {
	program, err := os.Executable()
	say := func(text string) { words.Fprintf(out, "%s\n", text) }
	return runner{campaign.Program{Path: program}, &campaign.Campaign{Jobs: jobs, Say: say}, dir}, err
}

// untilShown makes a run. It repeats a run with the outcome unknown, such as one on a machine that
// was too busy or with servers that came to disagree.
func (r runner) untilShown(ctx context.Context, p planned, below string) (result Result, err error) {
	err = r.UntilShown(ctx, p.String(), func(int) (void string, err error) {
		if result, err = r.make(ctx, p, below); result.Outcome == verdict.Unknown {
			void = result.String()
		}
		return void, err
	})
	return result, err
}

// make makes a run in a folder below that of the field. The error is that of ctx, or one of the
// command line or the file system, which the next run would have too.
func (r runner) make(ctx context.Context, p planned, below string) (Result, error) {
	result := Result{Lock: p.Lock.id, Plan: p.Plan.Name, Result: campaign.Result{Seed: p.Seed, Command: p.Command(), Started: time.Now()}}
	kept := filepath.Join(below, p.folder())
	out := filepath.Join(r.dir, kept)
	if err := campaign.Fresh(out); err != nil {
		return result, err
	}
	ended, err := r.Start(ctx, p.env(), append(p.args(), "--out", out))
	if err != nil {
		return result, err
	}
	result.Took = time.Since(result.Started)
	err = result.read(out)
	switch {
	case err == nil:
		result.Folder = kept
		return result, os.WriteFile(filepath.Join(out, "run.log"), ended.Said, 0o644)
	case !errors.Is(err, fs.ErrNotExist):
		return result, err
	case ended.Status == 0:
		return result, fmt.Errorf("%s wrote no %s", result.Command, folder.Verdict)
	}
	if result.Missing = ended.LastWords(); ended.Status == campaign.BadUsage {
		return result, campaign.Refuse("%s: %s", result.Command, result.Missing)
	}
	return result, os.RemoveAll(out)
}

// tellStories sets the story of each violation: it looks for the shortest part of the history that
// still violates the guarantee, and describes that part in words.
func (r runner) tellStories(ctx context.Context, result *Result) error {
	dir := filepath.Join(r.dir, result.Folder)
	for _, v := range result.violated() {
		short := filepath.Join(dir, strings.NewReplacer(" ", "-", ",", "", "/", "-").Replace(v.Guarantee)+".small.jsonl")
		ended, err := r.Start(ctx, nil, []string{"shrink", dir, "--guarantee", v.Guarantee, "--out", short})
		if err != nil {
			return err
		}
		if ended.Status != 0 { // use the text in the run's verdict
			v.Story = v.What
			continue
		}
		if ended, err = r.Start(ctx, nil, []string{"explain", short, "--guarantee", v.Guarantee}); err != nil {
			return err
		}
		if len(ended.Said) == 0 {
			return fmt.Errorf("explain %s: %s", short, ended.LastWords())
		}
		text, err := os.ReadFile(short)
		if err != nil {
			return err
		}
		v.Story, v.Events = strings.TrimSpace(string(ended.Said)), max(0, bytes.Count(text, []byte("\n"))-1) // the first line is the header
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
