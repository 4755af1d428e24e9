package field

import (
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
	return help.WithExamples("Of each explanation, the run of the shortest violation of each library is repeated, with the same command; the pages then say how often the violation came back.",
		"zkverify field again field --times 10")
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
	for _, v := range c.violations(pageOf(f, s)) {
		if err := c.repeat(ctx, out, r, f, v); err != nil {
			return err
		}
		if err := s.save(c.Dir, f); err != nil {
			return err
		}
	}
	return nil
}

// violations are those to repeat: the shortest of each explanation and library.
func (c *Again) violations(p *page) (all []violation) {
	for _, e := range p.Findings {
		var libraries []string
		for _, v := range e.Cases {
			name := v.Lock.Library + v.Lock.Version
			if matches(c.Lock, v.Lock.id) && !slices.Contains(libraries, name) {
				libraries = append(libraries, name)
				all = append(all, v)
			}
		}
	}
	return all
}

// repeat makes a violation's run again and again, and counts how often it is violated.
func (c *Again) repeat(ctx context.Context, out io.Writer, r runner, f *Field, v violation) error {
	i := slices.IndexFunc(f.Plans, func(p Plan) bool { return p.Name == v.Run.Plan })
	if i < 0 {
		return Refused{fmt.Errorf("the field has no plan %q", v.Run.Plan)}
	}
	p := planned{v.Lock, f.Plans[i], v.Run.Seed, f.Options}
	if p.Command() != v.Run.Command {
		return Refused{fmt.Errorf("the field has another command for %s: %q", v.Lock.id, p.Command())}
	}
	again := Repeats{Guarantee: v.Guarantee}
	var mu sync.Mutex
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(c.Jobs)
	for i := range c.Times {
		all.Go(func() error {
			below := filepath.Join(againFolder, strconv.Itoa(i))
			repeated, err := r.make(ctx, p, below)
			if err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, below))); err != nil {
				return err
			}
			if repeated.Missing != "" {
				return Refused{fmt.Errorf("%s: %s", v.Run.Command, repeated.Missing)}
			}
			mu.Lock()
			defer mu.Unlock()
			again.Of++
			if slices.ContainsFunc(repeated.violated(), func(o *Verdict) bool { return o.Guarantee == v.Guarantee }) {
				again.Came++
			}
			return nil
		})
	}
	if err := errors.Join(all.Wait(), os.RemoveAll(filepath.Join(r.dir, againFolder))); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %s: came back %d of %d times\n", v.Lock.id, v.Guarantee, again.Came, again.Of)
	v.Run.Again = append(slices.DeleteFunc(v.Run.Again, func(a Repeats) bool { return a.Guarantee == v.Guarantee }), again)
	return nil
}
