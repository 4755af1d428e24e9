package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// ErrDisagreement is wrapped by the error of [Check] when the two engines came
// to different verdicts on the same history. It is a bug of zkverify.
var ErrDisagreement = errors.New("checker: bug of zkverify: the interval engine and Porcupine disagree")

// Option changes how [Check] works.
type Option func(*check)

// WithTimeLimit bounds the time that Porcupine may take over the whole history.
// The default is 10 seconds. What it leaves undecided is judged by the interval
// engine alone.
func WithTimeLimit(d time.Duration) Option { return func(c *check) { c.time = d } }

// WithMemoryLimit bounds the memory in bytes that one search of Porcupine may
// need. The default is 256 MiB.
func WithMemoryLimit(bytes int64) Option { return func(c *check) { c.search.memory = bytes } }

// check is one run of the checker.
type check struct {
	search search
	time   time.Duration
	notes  []string
	err    error
}

// Check judges h. It returns an error when h is not a valid history, when ctx
// ends, or, together with the report, when the engines disagree.
func Check(ctx context.Context, h *histories.History, opts ...Option) (*Report, error) {
	if err := histories.Validate(h); err != nil {
		return nil, err
	}
	c := &check{search: search{ctx: ctx, memory: 256 << 20, size: 200}, time: 10 * time.Second}
	for _, o := range opts {
		o(c)
	}
	c.search.deadline = time.Now().Add(c.time)
	t := newTrace(h)
	r := &Report{}
	recipes := t.recipes()
	for _, g := range guarantees {
		if !slices.ContainsFunc(recipes, g.of) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		v := g.judge(c, t)
		if !v.Promised && v.Outcome != Unknown {
			v.idle("not promised by the target")
			v.Witnesses, v.Violations = nil, 0
		}
		r.Verdicts = append(r.Verdicts, v)
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx) // searches were cut short
	}
	r.Coverage = t.coverage()
	r.Recipes = t.uses()
	r.Figures = t.figures()
	r.Notes = append(c.notes, t.partly(r.Verdicts)...)
	if t.census != nil {
		r.Disagreements = t.census.Census.Disagreements
	}
	if h.Truncated {
		r.Notes = append(r.Notes, "the history is cut off: "+h.Note)
	}
	r.idle = t.shownNothing(r.Coverage, r.Recipes)
	return r, c.err
}

// undecided notes what Porcupine could not judge under its caps.
func (c *check) undecided(guarantee, lock, why string) {
	c.notes = append(c.notes, fmt.Sprintf("%s of lock %q was judged by the interval engine alone: Porcupine gave up because %s", guarantee, lock, why))
}

// disagree makes v worthless, loudly.
func (c *check) disagree(v *Verdict, lock string, found bool) {
	engine := "Porcupine"
	if found {
		engine = "the interval engine"
	}
	v.Outcome = Unknown
	v.Reason = fmt.Sprintf("BUG OF ZKVERIFY: only %s sees a violation on lock %q; please report this history", engine, lock)
	c.err = errors.Join(c.err, fmt.Errorf("%w on %s of lock %q: only %s sees a violation", ErrDisagreement, v.Guarantee, lock, engine))
}
