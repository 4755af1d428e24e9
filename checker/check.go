package checker

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// ErrDisagreement is wrapped by the error of [Check] when the two engines came
// to different verdicts on the same history. It is a bug of zkverify.
var ErrDisagreement = errors.New("checker: bug of zkverify: the interval engine and Porcupine disagree")

// Option changes how [Check] works.
type Option func(*check)

// Engine says by which of the two engines a history is judged.
type Engine string

// The engines.
const (
	// Both engines judge, and must agree: the default.
	Both Engine = "both"
	// Interval is the interval engine alone. It is exact, and needs one pass.
	Interval Engine = "interval"
	// Porcupine is the search alone. What it has no model of is not judged.
	Porcupine Engine = "porcupine"
)

// WithEngine chooses the engine. The default is [Both].
func WithEngine(e Engine) Option { return func(c *check) { c.engine = e } }

// WithTimeLimit bounds the time that Porcupine may search, over the whole
// history. The default is a minute. A guarantee that it leaves undecided is
// unknown, unless the interval engine has found a violation.
func WithTimeLimit(d time.Duration) Option { return func(c *check) { c.search.left = d } }

// WithMemoryLimit bounds the memory in bytes that one search of Porcupine may
// need. The default is 256 MiB.
func WithMemoryLimit(bytes int64) Option { return func(c *check) { c.search.memory = bytes } }

// check is one run of the checker.
type check struct {
	engine   Engine
	search   search
	notHeld  ReleaseNotHeld
	window   int
	all      bool // every violation becomes a witness
	judges   []judge
	meetings *meetings
	judged   []Guarantee
	notes    []string
	err      error
}

func newCheck(ctx context.Context, opts []Option) *check {
	c := &check{engine: Both, search: search{ctx: ctx, left: time.Minute, memory: 256 << 20, size: 200}, window: 1 << 13}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Check judges h. It returns an error when h is not a valid history, when ctx
// ends, or, together with the report, when the engines disagree.
func Check(ctx context.Context, h *histories.History, opts ...Option) (*Report, error) {
	if err := histories.Validate(h); err != nil {
		return nil, err
	}
	r, err := newCheck(ctx, opts).run(h.Header, all(h.Events))
	if r != nil && h.Truncated {
		r.Notes = append(r.Notes, "the history is cut off: "+h.Note)
	}
	return r, err
}

// CheckEvents judges the events of a valid history, in order, such as those of a
// [histories.Scanner], while they come. Memory goes with what is open at a time, and
// not with their number; docs/checker.md says what else is kept. An event is not
// looked at any more when the next one is asked for. An error that comes instead of
// an event is returned.
func CheckEvents(ctx context.Context, header histories.Header, events iter.Seq2[*histories.Event, error], opts ...Option) (*Report, error) {
	return newCheck(ctx, opts).run(header, events)
}

func all(events []histories.Event) iter.Seq2[*histories.Event, error] {
	return func(yield func(*histories.Event, error) bool) {
		for i := range events {
			if !yield(&events[i], nil) {
				return
			}
		}
	}
}

// run judges the events of a valid history.
func (c *check) run(header histories.Header, events iter.Seq2[*histories.Event, error]) (*Report, error) {
	t := beginTrace(header)
	recipes := t.recipes()
	c.conventions(&header)
	for _, g := range guarantees {
		if slices.ContainsFunc(recipes, g.of) && (header.Shrunk == nil || header.Shrunk.Guarantee == g.Name) {
			c.judged, c.judges = append(c.judged, g), append(c.judges, g.judge())
		}
	}
	if err := c.shrunk(&header); err != nil {
		return nil, err
	}
	if c.all {
		for _, j := range c.judges {
			everyViolation(j)
		}
	}
	c.meetings = newMeetings(&t.header, recipes)
	since := 0
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if ctx := c.search.ctx; ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if since++; since >= c.window && e.Time > t.end {
			since = 0
			t.look()
			if err := c.look(t); err != nil {
				return nil, err
			}
			t.turn()
		}
		t.step(e)
		c.meetings.step(e)
	}
	t.close()
	if err := c.look(t); err != nil {
		return nil, err
	}
	return c.report(t)
}

// look lets all judges look at a window: side by side, unless they search, for
// searches share one budget. The goroutines end here.
func (c *check) look(t *trace) error {
	var judging sync.WaitGroup
	for _, j := range c.judges {
		if c.searches() {
			j.window(c, t)
		} else {
			judging.Go(func() { j.window(c, t) })
		}
		if c.search.ctx.Err() != nil {
			break // searches were cut short
		}
	}
	judging.Wait()
	if c.search.ctx.Err() != nil {
		return context.Cause(c.search.ctx)
	}
	return nil
}

func (c *check) report(t *trace) (*Report, error) {
	r := &Report{ZooKeeper: t.header.ZooKeeper}
	for i, j := range c.judges {
		v := j.verdict(c, t)
		c.conclude(&v, c.judged[i])
		r.Verdicts = append(r.Verdicts, v)
	}
	if err := c.search.ctx.Err(); err != nil {
		return nil, context.Cause(c.search.ctx)
	}
	r.Coverage = t.coverage()
	r.Recipes = t.uses()
	r.Meetings = c.meetings.rows()
	r.Figures = append(t.figures(), t.pace.figures()...)
	r.Notes = c.notes
	if both := t.underPauses(r); both != "" {
		r.Notes = append(r.Notes, both)
	}
	r.Events = t.next
	if t.census != nil {
		r.Disagreements, r.Diverged = t.census.Census.Disagreements, t.census.Census.Diverged
		if late, slack := t.census.Census.Late, histories.Slack(t.header.SessionTimeout); late > slack {
			r.Late = fmt.Sprintf("words of worker processes took up to %s to be recorded, and only %s is allowed for: the machine was too busy for a violation to be held against the target", ms(late), ms(slack))
		}
	}
	r.idle = t.shownNothing(r.Coverage, r.Recipes)
	return r, c.err
}

// conclude puts a verdict in its final form.
func (c *check) conclude(v *Verdict, g Guarantee) {
	v.tell()
	if v.undecided > 0 {
		v.count("locks that Porcupine left undecided", v.undecided)
	}
	switch {
	case !v.Promised && v.Outcome != Unknown:
		v.Outcome, v.Reason = NotPromised, "not promised by the target"
		v.Witnesses, v.Violations = nil, 0
	case c.engine == Porcupine && !g.searched:
		v.Outcome, v.Reason = NotJudged, "Porcupine has no model of it"
		v.Witnesses, v.Violations = nil, 0
	case v.Outcome == Holds && v.gaveUp != "":
		v.Outcome, v.Reason = Unknown, v.gaveUp
		if c.engine == Both {
			v.Reason = "the interval engine sees no violation, but " + v.gaveUp
		}
	}
}

// sweeps and searches report which engines are to judge.
func (c *check) sweeps() bool   { return c.engine != Porcupine }
func (c *check) searches() bool { return c.engine != Interval }

// compare holds the answer of the search for one lock against what the interval
// engine found there.
func (c *check) compare(t *trace, v *Verdict, lock string, found bool, a answer) {
	switch {
	case c.engine == Interval:
	case a.result == porcupine.Unknown:
		v.undecided++
		v.gaveUp = fmt.Sprintf("Porcupine gave up on lock %q because %s", lock, a.why)
	case c.engine == Porcupine && a.result == porcupine.Illegal:
		v.violate(func() Witness { return t.noOrderOf(lock, a) })
	case c.engine == Both && (a.result == porcupine.Illegal) != found:
		c.disagree(v, lock, found)
	}
}

// noOrderOf tells of a search that found nothing, for lack of a better witness.
func (t *trace) noOrderOf(lock string, a answer) Witness {
	w := t.newWitness(lock, a.from, min(a.to, t.end))
	w.What = fmt.Sprintf("Porcupine finds no order in which %s of lock %q, between %s and %s, can have taken effect", words.Count(a.n, "step"), lock, at(a.from), at(min(a.to, t.end)))
	return w
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
