package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/seeded"
	model "github.com/zkverify/zkverify/spec"
	"github.com/zkverify/zkverify/workload/campaign"
)

// Fleet carries out runs, each in a process of its own.
type Fleet struct {
	campaign.Subprocess      // calls Host
	Look                Look // for each run
	// Made names the program that makes the runs; it is part of their outcomes.
	Made string
	// Validator, if not nil, validates the runs by spec/mutex.pml: one in four, if OneInFour is true,
	// or else all.
	Validator *model.Validator
	OneInFour bool
	// Jobs is the number of processes at a time, at least 1.
	Jobs int
}

// Run carries out a run. It creates the run's folder; the folder of a run that passed is
// removed again, unless the run was traced. A process that fails gives an outcome too: unknown,
// with the reason, and with its output in campaign.StacksFile in the folder.
func (f Fleet) Run(ctx context.Context, s Spec, dir string) (Outcome, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Outcome{}, err
	}
	var o Outcome
	err := f.Ask(ctx, dir, f.request(s), &o)
	if failed := (*campaign.Failure)(nil); errors.As(err, &failed) {
		o = Outcome{Spec: s, Outcome: verdict.Unknown, Trouble: failed.Reason, Made: f.Made}
		return o, errors.Join(os.WriteFile(filepath.Join(dir, campaign.StacksFile), failed.Printed, 0o644), f.keep(dir, o))
	}
	o.Made = f.Made
	if err == nil && f.validates(s) {
		err = o.validate(ctx, f.Validator, dir)
	}
	if err != nil || o.Passed() && !f.Look.Trace {
		return o, errors.Join(err, os.RemoveAll(dir))
	}
	return o, f.keep(dir, o)
}

// validates reports whether a run is validated. Seeds go in pairs, since with all plans every other
// seed has the same plan.
func (f Fleet) validates(s Spec) bool {
	return f.Validator != nil && (!f.OneInFour || s.Seed/2%4 == 0)
}

// validate asks the model whether it can do what the run has done.
func (o *Outcome) validate(ctx context.Context, v *model.Validator, dir string) error {
	m, err := v.Validate(ctx, filepath.Join(dir, model.RecordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the history, or some transactions, are missing
	}
	o.Model = &m
	return err
}

// request is the JSON that a Fleet sends to a process. Its length is the same for the same
// Spec.
type request struct {
	Spec  Spec   `json:"spec"`
	Until string `json:"until"` // ns, always as many digits
	Trace int    `json:"trace"` // 0 or 1
	// Validate is 0 or 1.
	Validate int `json:"validate"`
	// Message and Seed are the Branch, always as many digits.
	Message string `json:"message"`
	Seed    string `json:"seed"`
}

func (f Fleet) request(s Spec) request {
	digits := func(n uint64) string { return fmt.Sprintf("%020d", n) }
	b := f.Look.Branch
	r := request{Spec: s, Until: digits(uint64(f.Look.Until)), Message: digits(uint64(b.Message)), Seed: digits(b.Seed)}
	if f.Look.Trace {
		r.Trace = 1
	}
	if f.validates(s) {
		r.Validate = 1
	}
	return r
}

// Host carries out the one run that a Fleet asks for, as campaign.Host does.
func Host(version string, in io.Reader, out io.Writer) {
	campaign.Host(version, in, out, func(t *testing.T, r request) (Outcome, error) {
		var n [3]uint64
		for i, digits := range []string{r.Until, r.Message, r.Seed} {
			var err error
			if n[i], err = strconv.ParseUint(digits, 10, 64); err != nil {
				return Outcome{}, fmt.Errorf("a number of the request: %w", err)
			}
		}
		seeded.Seed(uint64(r.Spec.Seed))
		o, err := Run(t, ".", r.Spec, Look{time.Duration(n[0]), r.Trace == 1, r.Validate == 1, Branch{int(n[1]), n[2]}})
		o.CPU = campaign.CPU()
		return o, err
	})
}

// All carries out runs, Jobs at a time, each in a folder below dir, until all yields none, ctx ends or
// the limit of time has passed, which is 0 for none. It calls done with each outcome and its folder,
// in the order in which the runs end; these calls and those of all do not overlap. All returns the
// first error, after which no run begins.
func (f Fleet) All(ctx context.Context, limit time.Duration, dir string, all iter.Seq[Spec], done func(Outcome, string) error) error {
	folder := func(s Spec) string { return filepath.Join(dir, s.Name()) }
	return campaign.Make(ctx, &campaign.Campaign{Jobs: f.Jobs, For: limit}, all, func(ctx context.Context, s Spec) (Outcome, error) {
		o, err := f.Run(ctx, s, folder(s))
		if err != nil {
			err = fmt.Errorf("seed %d: %w", s.Seed, err)
		}
		return o, err
	}, func(s Spec, o Outcome) error { return done(o, folder(s)) })
}
