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
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/campaign"
)

// Again repeats runs with violations.
type Again struct {
	which
	Dir    string  `arg:"" help:"Folder of a field."`
	Times  int     `default:"10" help:"How often each run is repeated."`
	Enough float64 `default:"0" help:"If a violation comes back in less than this share of the repeats, from 0 to 1, another run that has it is repeated, too, or with --duration a longer one."`
	Jobs   int     `default:"1" help:"Runs at the same time. Each has three servers."`

	Duration time.Duration `help:"How long a repeat lasts, such as 3m; default as long as the run. A race that a run seldom loses is lost more often by one that lasts longer."`
}

// Help is called by kong.
func (Again) Help() string {
	return words.WithExamples("Repeats runs until each line of the pages has been repeated: of each lock the run that shows the most lines, then another one for those that it does not show. The pages then say how often each guarantee was violated again. A repeat that shows nothing, since the machine was too busy or servers came to disagree, is made anew, up to twice, and else does not count. Runs that were repeated so often already are left out: what was interrupted continues.",
		"zkverify field again field --times 10", "zkverify field again field --lock 'kazoo-*' --enough 0.8", "zkverify field again field --enough 0.5 --duration 3m")
}

// Validate is called by kong.
func (c *Again) Validate() error {
	switch {
	case c.Times < 1:
		return fmt.Errorf("--times must be at least 1, not %d", c.Times)
	case !(c.Enough >= 0 && c.Enough <= 1):
		return fmt.Errorf("--enough is a share from 0 to 1, not %v", c.Enough)
	case c.Jobs < 1:
		return fmt.Errorf("--jobs must be at least 1, not %d", c.Jobs)
	case c.Duration < 0:
		return fmt.Errorf("--duration must be positive, not %v", c.Duration)
	}
	return nil
}

// Run repeats the runs. It returns a campaign.Refused, the error of ctx, or one of the file system.
func (c *Again) Run(ctx context.Context, out io.Writer) error {
	f, s, err := open(c.Field, c.Dir)
	if err != nil {
		return err
	}
	if err := f.names(c.Lock, nil); err != nil {
		return campaign.Refuse("%w", err)
	}
	r, err := newRunner(c.Dir, out, c.Jobs)
	if err != nil {
		return err
	}
	a := &again{runner: r, field: f, state: s, out: out, left: map[*Result]int{}}
	for _, p := range c.surest(f, s) {
		if err := a.plan(p, c.Times); err != nil {
			return err
		}
	}
	words.Fprintf(out, "%d runs to make, in %s\n", len(a.all), c.Dir)
	made := a.work(ctx, a.all)
	if ctx.Err() != nil {
		made = context.Cause(ctx)
	}
	return errors.Join(made, os.RemoveAll(filepath.Join(c.Dir, againFolder)))
}

// surest returns the runs to repeat: first those whose repeats were interrupted, then for each line
// of the page that no repeated run shows often enough, another run that has it.
func (c *Again) surest(f *Field, s *State) (all []repeat) {
	for _, l := range f.Locks() {
		if !matches(c.Lock, l.id) {
			continue
		}
		runs, lines := f.lines(s, l)
		weak := lines // the lines that do not come back often enough
		var fresh []repeat
		for _, r := range runs {
			one := repeat{r, f.plannedAs(l, r, c.Duration)}
			switch n := one.made(); {
			case n > 0 && n < c.Times:
				all, weak = append(all, one), without(weak, f, r, 0)
				continue
			case n == 0:
				fresh = append(fresh, one)
			}
			if len(r.Again) > 0 {
				weak = without(weak, f, r, c.Enough)
			}
		}
		for len(weak) > 0 && len(fresh) > 0 {
			best := slices.MaxFunc(fresh, func(a, b repeat) int {
				return cmp.Or(cmp.Compare(len(without(weak, f, b.of, 0)), len(without(weak, f, a.of, 0))), cmp.Compare(a.of.violations(), b.of.violations()))
			})
			left := without(weak, f, best.of, 0)
			if len(left) == len(weak) {
				break // no other run has them
			}
			all, weak = append(all, best), left
		}
	}
	slices.SortStableFunc(all, func(a, b repeat) int { return cmp.Compare(b.made(), a.made()) })
	return all
}

// again holds the repeats that are left to make.
type again struct {
	runner
	field *Field
	out   io.Writer
	state *State
	all   []repeat
	left  map[*Result]int // repeats, of each run
}

// plan adds the repeats of a run that are left to make.
func (a *again) plan(r repeat, times int) error {
	same := r.planned
	same.duration = 0
	if r.planned.Plan.Name == "" || same.Command() != r.of.Command {
		return campaign.Refuse("the field has no such run of %s under the plan %q any more: %q", r.of.Lock, r.of.Plan, r.of.Command)
	}
	for range times - r.made() {
		a.all = append(a.all, r)
		a.left[r.of]++
	}
	return nil
}

// work makes repeats.
func (a *again) work(ctx context.Context, all []repeat) error {
	a.Total = len(a.all)
	return campaign.Make(ctx, a.Campaign, slices.Values(all), a.repeat, a.count)
}

// repeat makes a repeat, in a folder that it removes.
func (a *again) repeat(ctx context.Context, one repeat) (Result, error) {
	all := filepath.Join(a.dir, againFolder)
	if err := os.MkdirAll(all, 0o755); err != nil {
		return Result{}, err
	}
	own, err := os.MkdirTemp(all, "")
	if err != nil {
		return Result{}, err
	}
	r, err := a.untilShown(ctx, one.planned, filepath.Join(againFolder, filepath.Base(own)))
	if err == nil && r.Missing != "" {
		err = campaign.Refuse("%s: %s", one.planned.Command(), r.Missing)
	}
	return r, errors.Join(err, os.RemoveAll(own))
}

// count counts how often each violation of a run came back. A repeat that shows nothing does not
// count.
func (a *again) count(one repeat, r Result) error {
	if r.Outcome != verdict.Unknown {
		one.count(a.field, &r)
	}
	run := one.of
	words.Fprintf(a.out, "%s: %s%s\n", one.planned, r, a.Left())
	if a.left[run]--; a.left[run] == 0 {
		for _, came := range run.Again {
			if came.Command == one.counted() {
				words.Fprintf(a.out, "%s, %s: came back %d of %d times\n", one.planned, came.Guarantee, came.Came, came.Of)
			}
		}
	}
	return a.state.save(a.dir, a.field)
}
