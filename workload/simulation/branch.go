package simulation

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/folder"
)

// The limits of Decide.
const (
	// DecideRuns is the largest number of runs.
	DecideRuns = 160
	// DecideFor is the time after which no run begins.
	DecideFor = 2 * time.Minute
	// Continuations is the number of runs that go on otherwise from an end of an interval; from the
	// beginning on it is half as many.
	Continuations = 16
)

// DecidedFolder is the folder, in that of a run, with the run that Decide has looked at.
const DecidedFolder = "decided"

// Decision tells when it was decided that a run violates a guarantee. The run was resumed from
// messages on with other choices, and the same faults: of those that go on from after the cause
// all violate the guarantee too.
type Decision struct {
	Guarantee string        `json:"guarantee"`
	By        time.Duration `json:"by"`       // when it was violated
	Until     time.Duration `json:"until"`    // a violation after that does not count; 0: each counts
	Messages  int           `json:"messages"` // of the run
	Base      Share         `json:"base"`     // of those that are other runs from the beginning on
	Intervals []Interval    `json:"intervals,omitempty"`
	Runs      int           `json:"runs"`
}

// Share counts the runs that go on otherwise from a message on, and those that violate.
type Share struct {
	Message  int           `json:"message"` // 0: from the beginning on
	Time     time.Duration `json:"time"`
	Violated int           `json:"violated"`
	Of       int           `json:"of"`
}

func (s Share) rate() float64 { return float64(s.Violated) / float64(max(s.Of, 1)) }

// Interval is a part of a run in which the share rises.
type Interval struct {
	From    Share    `json:"from"`
	To      Share    `json:"to"`
	Between []string `json:"between"`        // what happened, in order, in words
	More    int      `json:"more,omitempty"` // events that Between leaves out
}

// ErrOtherRun is returned by Decide for a run that is not the same, or does not violate the
// guarantee, when it is made again.
var ErrOtherRun = errors.New("it is another run when it is made again")

// Decide looks for the messages at which it was decided that a run, which a seeded runtime makes,
// violates a guarantee. It writes the run, with its messages, to the folder dir, and calls done
// with the number of runs so far.
func (f Fleet) Decide(ctx context.Context, s Spec, guarantee, dir string, done func(int)) (d Decision, err error) {
	b := &branching{fleet: f, spec: s, guarantee: guarantee, dir: dir + "-again", done: done, began: time.Now(), shares: map[int][]bool{}}
	b.again = func(ctx context.Context, at, n int) (bool, error) {
		look := b.look
		look.Branch = Branch{at, uint64(n + 1)}
		o, err := b.run(ctx, filepath.Join(b.dir, strconv.Itoa(n)), look)
		return b.violates(o), err
	}
	defer os.RemoveAll(b.dir)
	o, err := b.begin(ctx, dir)
	if err != nil {
		return d, err
	}
	same, err := b.run(ctx, b.dir, b.look)
	if err != nil {
		return d, err
	}
	if same.Hash != o.Hash {
		return d, ErrOtherRun
	}
	b.end, b.runs = o.Messages, b.runs+1
	if err := b.search(ctx); err != nil {
		return d, err
	}
	d = Decision{Guarantee: guarantee, By: o.By, Until: b.look.Until, Messages: o.Messages, Runs: b.runs}
	return d, b.tell(&d, dir)
}

// begin makes the run, with its messages. It ends it soon after the violation, if that is possible:
// the faults behind it would violate the guarantee in more of the runs that go on otherwise.
func (b *branching) begin(ctx context.Context, dir string) (o Outcome, err error) {
	for _, early := range []bool{false, true, false} {
		if early {
			if b.look.Until = o.By + 2*b.spec.SessionTimeout; b.look.Until >= b.spec.Duration {
				b.look.Until = 0
				return o, nil
			}
		}
		look := b.look
		look.Trace = true
		if o, err = b.run(ctx, dir, look); err != nil {
			return o, err
		}
		b.runs++
		violated := b.violates(o)
		switch {
		case violated && early:
			return o, nil
		case !violated && !early:
			return o, fmt.Errorf("%s: %w", b.guarantee, ErrOtherRun)
		case !violated:
			b.look.Until = 0
		}
	}
	return o, nil
}

// run makes the run with a Look.
func (b *branching) run(ctx context.Context, dir string, l Look) (Outcome, error) {
	f := b.fleet
	f.Look, f.Validator = l, nil
	return f.Run(ctx, b.spec, dir)
}

func (b *branching) violates(o Outcome) bool {
	return o.Outcome == verdict.Violated && slices.Contains(o.Violated, b.guarantee)
}

// branching is a search for the messages at which a violation was decided.
type branching struct {
	fleet     Fleet
	spec      Spec
	guarantee string
	look      Look
	dir       string
	done      func(int)
	began     time.Time

	// again makes a run that goes on otherwise from a message on, and reports whether it violates the
	// guarantee; n numbers the runs of that message, from 0 on.
	again  func(ctx context.Context, at, n int) (bool, error)
	end    int            // the number of messages of the run
	runs   int            // that the search has used
	shares map[int][]bool // by message: which continuations violate
	found  [][2]int       // intervals in which the share rises
}

// leastRise is the least rise of the share that is looked for.
const leastRise = 3.0 / 8

// search looks for the interval in which the share rises most, and then for others on both sides.
func (b *branching) search(ctx context.Context) error {
	for range Continuations {
		b.shares[b.end] = append(b.shares[b.end], true) // nothing is left to choose
	}
	if err := b.fill(ctx, 0, Continuations/2); err != nil {
		return err
	}
	for left := [][2]int{{0, b.end}}; len(left) > 0; left = left[1:] {
		from, to := left[0][0], left[0][1]
		if to <= from || b.rise(from, to) < leastRise {
			continue
		}
		lo, hi, rises, err := b.narrow(ctx, from, to)
		if err != nil {
			return err
		}
		if rises {
			b.found = append(b.found, [2]int{lo, hi})
		}
		left = append(left, [2]int{from, lo}, [2]int{hi, to})
	}
	slices.SortFunc(b.found, func(x, y [2]int) int { return cmp.Compare(x[0], y[0]) })
	return nil
}

func (b *branching) share(at int) Share {
	s := Share{Message: at, Of: len(b.shares[at])}
	for _, violates := range b.shares[at] {
		if violates {
			s.Violated++
		}
	}
	return s
}

func (b *branching) rise(from, to int) float64 { return b.share(to).rate() - b.share(from).rate() }

// narrow bisects an interval, and goes on in the half in which the share rises more, as long as it
// rises enough there. It reports whether it still does by more runs.
func (b *branching) narrow(ctx context.Context, from, to int) (lo, hi int, rises bool, err error) {
	lo, hi = from, to
	for hi-lo > 1 && !b.over() {
		middle := lo + (hi-lo)/2
		if err := b.fill(ctx, middle, Continuations/2); err != nil {
			return lo, hi, false, err
		}
		left, right := b.rise(lo, middle), b.rise(middle, hi)
		if max(left, right) < leastRise {
			break
		}
		if left > right {
			hi = middle
		} else {
			lo = middle
		}
	}
	if err := errors.Join(b.fill(ctx, lo, Continuations), b.fill(ctx, hi, Continuations)); err != nil {
		return lo, hi, false, err
	}
	return lo, hi, b.rise(lo, hi) >= leastRise, nil
}

// fill makes the runs that are missing at a message, also when the search is over.
func (b *branching) fill(ctx context.Context, at, n int) error {
	if at == b.end {
		return nil
	}
	return b.more(ctx, at, max(0, min(n-len(b.shares[at]), DecideRuns-b.runs)))
}

// spare is the number of runs that are left for fill when the search is over.
const spare = 2 * Continuations

func (b *branching) over() bool {
	return b.runs >= DecideRuns-spare || time.Since(b.began) > DecideFor
}

// more makes n further runs that go on otherwise from a message on, several at a time.
func (b *branching) more(ctx context.Context, at, n int) error {
	made := len(b.shares[at])
	violates, errs := make([]bool, n), make([]error, n)
	slots := make(chan struct{}, max(b.fleet.Jobs, 1))
	var runs sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		runs.Go(func() { // ends with the run
			defer func() { <-slots }()
			violates[i], errs[i] = b.again(ctx, at, made+i)
		})
	}
	runs.Wait()
	b.runs += n
	b.shares[at] = append(b.shares[at], violates...)
	b.done(b.runs)
	return errors.Join(errs...)
}

// tell puts the result of the search into words, from the files of the run.
func (b *branching) tell(d *Decision, dir string) error {
	messages, err := readTrace(filepath.Join(dir, TraceFile))
	if err != nil {
		return err
	}
	file, err := histories.Open(filepath.Join(dir, folder.History))
	if err != nil {
		return err
	}
	defer file.Close()
	header := file.Header()
	timed := func(at int) Share {
		s := b.share(at)
		if at > 0 && at <= len(messages) {
			s.Time = messages[at-1].at
		}
		return s
	}
	d.Base = timed(0)
	for _, found := range b.found {
		d.Intervals = append(d.Intervals, Interval{From: timed(found[0]), To: timed(found[1])})
	}
	said := make([][]told, len(b.found))
	for i, found := range b.found {
		said[i] = slices.DeleteFunc(slices.Clone(messages[max(found[0]-1, 0):found[1]]), func(t told) bool { return strings.Contains(t.what, theBench) })
	}
	for e, err := range file.Events() {
		if err != nil {
			return err
		}
		for i := range d.Intervals {
			if in := &d.Intervals[i]; e.Time >= in.From.Time && e.Time <= in.To.Time && worthTelling(e) {
				said[i] = append(said[i], told{e.Time, checker.Tell(&header, e)})
			}
		}
	}
	for i, all := range said {
		slices.SortStableFunc(all, func(x, y told) int { return cmp.Compare(x.at, y.at) })
		in := &d.Intervals[i]
		in.More = max(0, len(all)-mostBetween)
		for _, t := range all[:len(all)-in.More] {
			in.Between = append(in.Between, fmt.Sprintf("%.6f s %s", t.at.Seconds(), root.ReplaceAllString(t.what, "…")))
		}
	}
	return nil
}

// mostRise is the rise of the share from which on a decision is one.
const mostRise = 0.6

// mostBetween is the largest number of events that an Interval names.
const mostBetween = 20

// String tells the decision in lines.
func (d Decision) String() string {
	var b strings.Builder
	others := fmt.Sprintf("of %s with the same faults and other choices from the beginning on %s", words.Count(d.Base.Of, "run"), violate(d.Base))
	if len(d.Intervals) == 0 {
		found := "no one choice decided the violation"
		if 1-d.Base.rate() >= leastRise {
			found = "the choice that decided the violation was not found"
		}
		fmt.Fprintf(&b, "%q: %s: %s", d.Guarantee, found, others)
	}
	for i, in := range d.Intervals {
		if i > 0 {
			b.WriteString("\n")
		}
		how := "became likelier"
		if in.To.rate()-in.From.rate() >= mostRise {
			how = "was decided"
		}
		fmt.Fprintf(&b, "%q: the violation %s between %.6f s and %.6f s (messages %d to %d of %d): of %s that go on otherwise from the first on %s, of %d from the second on %d", d.Guarantee,
			how, in.From.Time.Seconds(), in.To.Time.Seconds(), in.From.Message, in.To.Message, d.Messages, words.Count(in.From.Of, "run"), violate(in.From), in.To.Of, in.To.Violated)
		if i == 0 {
			b.WriteString("; " + others)
		}
		b.WriteString(". In between:")
		for _, what := range in.Between {
			b.WriteString("\n  " + words.Line(what))
		}
		if in.More > 0 {
			fmt.Fprintf(&b, "\n  and %s, see %s", words.Count(in.More, "more event"), filepath.Join(DecidedFolder, TraceFile))
		}
	}
	return b.String()
}

func violate(s Share) string {
	if s.Violated == 1 {
		return "1 violates it"
	}
	return fmt.Sprintf("%d violate it", s.Violated)
}

// worthTelling reports whether an event of a history may have to do with a decision.
func worthTelling(e *histories.Event) bool {
	switch e.Type {
	case histories.FaultStart, histories.FaultStop, histories.Expired, histories.ServerSeen:
		return true
	}
	return e.Process >= 0 && e.Type != histories.Says && e.Op != histories.Read && e.Op != histories.Write
}

// root is the node below which everything of a run is.
var root = regexp.MustCompile(`/zkverify/simulated-\d+/run-\d+`)

// told is an event in words.
type told struct {
	at   time.Duration
	what string
}

// readTrace reads a TraceFile, without the bytes of the messages.
func readTrace(path string) (all []told, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "\t")
		at, rest, _ := strings.Cut(strings.TrimSpace(line), " s ")
		seconds, err := strconv.ParseFloat(at, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, len(all)+1, err)
		}
		_, what, _ := strings.Cut(strings.TrimSpace(rest), "  ")
		all = append(all, told{time.Duration(math.Round(seconds * 1e9)), words.Line(what)})
	}
	return all, lines.Err()
}
