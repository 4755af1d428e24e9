package field

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/help"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/runs"
)

// Again repeats the runs of violations.
type Again struct {
	which
	Dir   string `arg:"" help:"Folder of a field."`
	Times int    `default:"10" help:"How often each run is repeated."`
	Jobs  int    `default:"1" help:"Runs at the same time. Each has three servers."`
}

// Help is called by kong.
func (Again) Help() string {
	return help.WithExamples("Of each explanation and library, the run with the most violations is repeated, with the same command; the pages then say how often each guarantee was violated again. Runs that were repeated so often already are left out: what was interrupted continues.",
		"zkverify field again field --times 10", "zkverify field again field --lock 'kazoo-*'")
}

// Validate is called by kong.
func (c *Again) Validate() error {
	switch {
	case c.Times < 1:
		return fmt.Errorf("--times must be at least 1, not %d", c.Times)
	case c.Jobs < 1:
		return fmt.Errorf("--jobs must be at least 1, not %d", c.Jobs)
	}
	return nil
}

// Run repeats them. It returns a Refused, the error of ctx, or one of the disk.
func (c *Again) Run(ctx context.Context, out io.Writer) error {
	f, s, err := open(c.Field, c.Dir)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	r := runner{runs.Program{Path: program}, c.Dir}
	for _, run := range c.surest(f, s) {
		if err := c.repeat(ctx, out, r, f, run); err != nil {
			return err
		}
		if err := s.save(c.Dir, f); err != nil {
			return err
		}
	}
	return nil
}

// surest are the runs to repeat: of each explanation and library the one with the most
// violations, which is the surest to have some again.
func (c *Again) surest(f *Field, s *State) (all []*Result) {
	for i := range f.Explanations {
		most := map[string]*Result{} // by library
		count := map[*Result]int{}
		for _, l := range f.Locks() {
			for j := range s.Results {
				r := &s.Results[j]
				if r.Lock != l.id || !matches(c.Lock, l.id) {
					continue
				}
				for _, v := range r.violated() {
					if f.explained(r, *v) == &f.Explanations[i] {
						count[r] = max(count[r], v.Violations)
					}
				}
				if best := most[l.Library+l.Version]; count[r] > 0 && (best == nil || count[r] > count[best]) {
					most[l.Library+l.Version] = r
				}
			}
		}
		for _, r := range most {
			if !slices.Contains(all, r) && !slices.ContainsFunc(r.Again, func(a Repeats) bool { return a.Of >= c.Times }) {
				all = append(all, r)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Result) int {
		return cmp.Or(cmp.Compare(a.Lock, b.Lock), cmp.Compare(a.Plan, b.Plan), cmp.Compare(a.Seed, b.Seed))
	})
	return all
}

// repeat makes a run again and again, and counts how often each guarantee that it had
// violated is violated.
func (c *Again) repeat(ctx context.Context, out io.Writer, r runner, f *Field, run *Result) error {
	plan := slices.IndexFunc(f.Plans, func(p Plan) bool { return p.Name == run.Plan })
	lock := slices.IndexFunc(f.Locks(), func(l Lock) bool { return l.id == run.Lock })
	if plan < 0 || lock < 0 {
		return Refused{fmt.Errorf("the field has no lock %q or no plan %q", run.Lock, run.Plan)}
	}
	p := planned{f.Locks()[lock], f.Plans[plan], run.Seed, f.Options}
	if p.Command() != run.Command {
		return Refused{fmt.Errorf("the field has another command for %s: %q", run.Lock, p.Command())}
	}
	var all []Repeats
	for _, v := range run.violated() {
		all = append(all, Repeats{Guarantee: v.Guarantee})
	}
	var mu sync.Mutex // of all
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.Jobs)
	for i := range c.Times {
		group.Go(func() error {
			below := filepath.Join(againFolder, strconv.Itoa(i))
			repeated, err := r.make(ctx, p, below)
			if err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, below))); err != nil {
				return err
			}
			if repeated.Missing != "" {
				return Refused{fmt.Errorf("%s: %s", run.Command, repeated.Missing)}
			}
			mu.Lock()
			defer mu.Unlock()
			for j := range all {
				all[j].Of++
				if slices.ContainsFunc(repeated.violated(), func(o *Verdict) bool { return o.Guarantee == all[j].Guarantee }) {
					all[j].Came++
				}
			}
			return nil
		})
	}
	if err := errors.Join(group.Wait(), os.RemoveAll(filepath.Join(r.dir, againFolder))); err != nil {
		return err
	}
	for _, a := range all {
		fmt.Fprintf(out, "%s, %s, seed %d, %s: came back %d of %d times\n", run.Lock, run.Plan, run.Seed, a.Guarantee, a.Came, a.Of)
	}
	run.Again = all
	return nil
}
