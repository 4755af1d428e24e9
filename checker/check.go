package checker

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/histories/situations"
	"github.com/zkverify/zkverify/histories/states"
)

// ErrDisagreement is wrapped by the error of [Check] when the two engines came to different
// verdicts on the same history. It is a bug of zkverify.
var ErrDisagreement = errors.New("checker: bug of zkverify: the interval engine and Porcupine disagree")

// Option changes how [Check] works.
type Option func(*check)

// Engine selects the engines that judge a history.
type Engine string

// The engines.
const (
	// Both engines judge, and must agree: the default.
	Both Engine = "both"
	// Interval is the interval engine alone. It is exact, and needs one pass.
	Interval Engine = "interval"
	// Porcupine is the search alone. A guarantee that it has no model of is not judged.
	Porcupine Engine = "porcupine"
)

// WithEngine chooses the engine. The default is [Both].
func WithEngine(e Engine) Option { return func(c *check) { c.engine = e } }

// WithTimeLimit bounds the time that Porcupine may search, over the whole history. The default
// is a minute. A guarantee that Porcupine leaves undecided is unknown, unless the interval
// engine has found a violation.
func WithTimeLimit(d time.Duration) Option { return func(c *check) { c.engines.Caps.Left = d } }

// WithMemoryLimit bounds the memory in bytes that one search of Porcupine may
// need. The default is 256 MiB.
func WithMemoryLimit(bytes int64) Option { return func(c *check) { c.engines.Caps.Memory = bytes } }

// check is one run of the checker.
type check struct {
	ctx      context.Context
	engine   Engine
	engines  judge.Engines
	notHeld  ReleaseNotHeld
	window   int         // the least number of events in a window
	fixed    bool        // windows never grow beyond that number, for tests
	everyOne bool        // every violation becomes a witness
	inMemory int         // see inMemory
	excerpts bool        // a history in memory is shrunk by excerpts, too, for tests
	own      []Guarantee // the guarantees of the user
	ownOnly  bool
	service  *service.Log
	judging  []judging
	tally    *tally
	coverage *states.Coverage
	outages  *outages

	situations *situations.Counter // nil: they are not counted
}

// judging is a guarantee that is being judged.
type judging struct {
	guarantee Guarantee
	verdict   *verdict.Verdict
	judge     judge.Judge
}

func newCheck(ctx context.Context, opts []Option) *check {
	c := &check{ctx: ctx, engine: Both, engines: judge.Engines{Caps: judge.Caps{Ctx: ctx, Left: time.Minute, Memory: 256 << 20, Size: 200}}, window: 1 << 13, inMemory: inMemory}
	for _, o := range opts {
		o(c)
	}
	c.engines.Sweeps, c.engines.Searches = c.engine != Porcupine, c.engine != Interval
	return c
}

// WithService has the history judged together with the servers' log of its run. A violation of
// mutual exclusion then tells whether the lock was granted too early, or the earlier holder
// was not told that its node was gone, and the guarantee [FirstNode] is judged. A nil log means that the servers' actions are
// not known.
func WithService(l *service.Log) Option { return func(c *check) { c.service = l } }

// WithSituations has the situations of the history counted, by a counter that has seen nothing.
func WithSituations(c *situations.Counter) Option {
	return func(k *check) { k.situations = c }
}

// begun returns the trace of a history of which no event has been read.
func (c *check) begun(header histories.Header) *facts.Trace {
	t := facts.Begin(header)
	t.Stop = func() bool { return c.ctx.Err() != nil }
	if c.service != nil {
		t.Service = facts.NewService(c.service)
	}
	return t
}

// begin returns a judge of a guarantee, ready to judge.
func (c *check) begin(g Guarantee, t *facts.Trace) judging {
	v := verdict.New(g.Name, c.everyOne)
	return judging{g, v, g.begin(t, v)}
}

// Check judges h. It returns an error when h is not a valid history, when ctx
// ends, or, together with the report, when the engines disagree.
func Check(ctx context.Context, h *histories.History, opts ...Option) (*Report, error) {
	if err := histories.Validate(h); err != nil {
		return nil, err
	}
	r, err := newCheck(ctx, opts).run(h.Header, SourceOf(h).Events)
	if r != nil && h.Truncated {
		r.Notes = append(r.Notes, "the history is cut off: "+h.Note)
	}
	return r, err
}

// CheckEvents judges the events of a valid history, in order and as they arrive, such as those
// of a [histories.Scanner]. Its memory grows with the operations and holds that are open at one
// time, and not with the number of events; docs/checker.md lists what else is kept. An event is
// not read again once the next one is requested. An error that comes instead of an event is
// returned.
func CheckEvents(ctx context.Context, header histories.Header, events iter.Seq2[*histories.Event, error], opts ...Option) (*Report, error) {
	return newCheck(ctx, opts).run(header, events)
}

// run judges the events of a valid history.
func (c *check) run(header histories.Header, events iter.Seq2[*histories.Event, error]) (*Report, error) {
	t := c.begun(header)
	recipes := t.Recipes()
	c.conventions(&header)
	c.coverage = states.NewCoverage(&t.Header, recipes)
	c.tally = newTally(t, c.coverage)
	t.Listen(c.tally)
	c.outages = newOutages(&t.Header)
	t.Listen(c.outages)
	all, err := c.guarantees()
	if err != nil {
		return nil, err
	}
	for _, g := range all {
		if g.ofServers && t.Service == nil || c.ownOnly && !g.own {
			continue
		}
		if slices.ContainsFunc(recipes, g.appliesTo) && (header.Shrunk == nil || PresentName(header.Shrunk.Guarantee) == g.Name) {
			c.judging = append(c.judging, c.begin(g, t))
		}
	}
	if err := c.shrunk(&header); err != nil {
		return nil, err
	}
	if err := c.through(t, events); err != nil {
		return nil, err
	}
	return c.report(t)
}

// through shows all events to the judges, in windows.
func (c *check) through(t *facts.Trace, events iter.Seq2[*histories.Event, error]) error {
	since, least := 0, c.window
	for e, err := range events {
		if err != nil {
			return err
		}
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		// A stall goes back to the last event before it, and may excuse the process of that event.
		if since++; since >= least && e.Time > t.End && e.Type != histories.Stalled {
			since = 0
			t.BeginWindow()
			kept, err := c.judgeWindow(t)
			if err != nil {
				return err
			}
			t.DiscardSettled()
			// Each window shows again everything that is still open. A window therefore
			// has at least as many events as that, so that each event pays for one
			// look.
			if kept += t.GoesOn(); !c.fixed {
				least = max(c.window, kept)
			}
		}
		t.Step(e)
		if c.coverage != nil {
			c.coverage.Step(e)
		}
		if c.situations != nil {
			c.situations.Event(e)
		}
	}
	t.Close()
	_, err := c.judgeWindow(t)
	return err
}

// judgeWindow lets all judges look at a window: concurrently, unless they search, since
// searches share one budget. It waits for its goroutines. It returns how many things the judges
// keep.
func (c *check) judgeWindow(t *facts.Trace) (kept int, err error) {
	var judges sync.WaitGroup
	each := make([]int, len(c.judging))
	for i, j := range c.judging {
		if c.engines.Searches {
			each[i] = j.judge.Window(&c.engines, t)
		} else {
			judges.Go(func() { each[i] = j.judge.Window(&c.engines, t) })
		}
		if c.ctx.Err() != nil {
			break // searches were cut short
		}
	}
	judges.Wait()
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	for _, n := range each {
		kept += n
	}
	return kept, nil
}

func (c *check) report(t *facts.Trace) (*Report, error) {
	r := &Report{ZooKeeper: t.Header.Versions(), own: c.own}
	for _, j := range c.judging {
		r.Verdicts = append(r.Verdicts, c.conclude(j, t))
	}
	if c.ctx.Err() != nil {
		return nil, context.Cause(c.ctx)
	}
	r.Recipes = c.tally.recipes()
	r.Coverage, r.Meetings = coverageOf(c.coverage), meetingsOf(c.coverage, t.Recipes())
	if c.situations != nil {
		r.Situations = c.situations.Counts()
	}
	r.Figures = append(c.tally.figures(r.Recipes), paceFigures(t.Pace.Counts)...)
	r.Notes = c.engines.Notes
	if t.Header.Ensemble == "simulated" {
		r.ZooKeeper += simulatedServers
		note := "the servers were simulated: what holds on them is to be confirmed on real ones"
		if t.Header.Options["clock"] != "virtual" {
			note += " (zkverify replay --ensemble local runs it there)"
		}
		r.Notes = append(r.Notes, note)
	}
	if stalls := tellStalls(t); stalls != "" {
		r.Notes = append(r.Notes, stalls)
	}
	if silences := tellSilences(t.Census); silences != "" {
		r.Notes = append(r.Notes, silences)
	}
	if outages := c.outages.tell(t.End); outages != "" {
		r.Notes = append(r.Notes, outages)
	}
	if both := underPauses(t, r); both != "" {
		r.Notes = append(r.Notes, both)
	}
	if points := tellPoints(c.coverage.Points); points != "" {
		r.Notes = append(r.Notes, points)
	}
	r.Events = t.Next
	if t.Census != nil {
		r.Disagreements, r.Diverged = t.Census.Census.Disagreements, t.Census.Census.Diverged
		r.Silences = t.Census.Census.Silences
		if late, slack := t.Census.Census.Late, histories.Slack(t.Header.SessionTimeout); late > slack {
			r.Late = fmt.Sprintf("words of worker processes took up to %s to be recorded, and only %s is allowed for: the machine was too busy for a violation to be held against the target", verdict.Ms(late), verdict.Ms(slack))
		}
	}
	r.idle = shownNothing(t, r.Recipes)
	var err error
	for _, d := range c.engines.Disagreements {
		err = errors.Join(err, fmt.Errorf("%w on %s", ErrDisagreement, d))
	}
	return r, err
}

// conclude returns the verdict of a judge in its final form.
func (c *check) conclude(j judging, t *facts.Trace) verdict.Verdict {
	v := j.verdict
	j.judge.Conclude(&c.engines, t)
	v.TellViolations()
	if j.guarantee.store != "" {
		v.BlameDescribed()
	}
	if j.guarantee.own {
		for i := range v.Witnesses {
			judge.CompleteWitness(t, &v.Witnesses[i])
		}
	}
	switch {
	case !v.Promised && v.Outcome != verdict.Unknown:
		v.Outcome, v.Reason = verdict.NotPromised, "not promised by the target"
		v.Witnesses, v.Violations = nil, 0
	case c.engine == Porcupine && !j.guarantee.searched:
		v.Outcome, v.Reason = verdict.NotJudged, "Porcupine has no model of it"
		v.Witnesses, v.Violations = nil, 0
	case v.Outcome == verdict.Holds && v.Undecided() != "":
		v.Outcome, v.Reason = verdict.Unknown, v.Undecided()
		if c.engine == Both {
			v.Reason = "the interval engine sees no violation, but " + v.Undecided()
		}
	}
	return *v
}
