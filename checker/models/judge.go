package models

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Linearizability is the name of the guarantee.
const Linearizability = "linearizability"

// Caps bound the cost of judging.
type Caps struct {
	Engine checker.Engine
	Time   time.Duration // of all sweeps, and of all searches with Porcupine
	Memory int64         // bytes that the sweep of a lock or register, or one search, may need
}

// aConfig is the approximate size in bytes of a state that a sweep keeps.
const aConfig = 200

// begin returns the limits of the sweeps and the caps of Porcupine, which are nil without
// Porcupine.
func (c Caps) begin(ctx context.Context) (*limits, *judge.Caps) {
	l := &limits{ctx: ctx, configs: int(c.Memory / aConfig), left: c.Time}
	if c.Engine == checker.Interval {
		return l, nil
	}
	return l, &judge.Caps{Ctx: ctx, Left: c.Time, Memory: c.Memory, Size: mostSearched}
}

// about is the position of an operation in the history.
type about struct {
	process   int
	from, to  time.Duration
	call, ret int // indexes of its events
	line      int // of its answer; for registers
}

// Guarantee returns the guarantee that a history of locks is linearizable by the models that
// its header names, or false if it names none. If it names several, some violated and some not,
// the outcome is unknown and open, a text, tells the user what to do.
func Guarantee(ctx context.Context, header *histories.Header, open string, caps Caps) (checker.OwnGuarantee, bool) {
	var all []lockModel
	var names []string
	for _, name := range header.Models {
		m, err := histories.ModelNamed(name)
		if err != nil || m.Register {
			return checker.OwnGuarantee{}, false
		}
		all = append(all, lockModel{m, header.Size})
		names = append(names, name)
	}
	return checker.OwnGuarantee{
		Name:    Linearizability,
		Summary: "an order of the operations fits that the model of the lock allows",
		Model:   strings.Join(names, " or "),
		Begin: func(*histories.Header) checker.EventJudge {
			j := &lockJudge{models: all, open: open, locks: map[string]*lockTrackers{}, asked: map[int]asked{}}
			j.limits, j.caps = caps.begin(ctx)
			return j
		},
	}, len(all) > 0
}

// lockJudge judges a history of locks.
type lockJudge struct {
	models []lockModel
	open   string
	limits *limits
	caps   *judge.Caps
	locks  map[string]*lockTrackers
	names  []string // of the locks, in order of appearance
	asked  map[int]asked
	n      int // operations
}

// lockTrackers follow one lock, one tracker for each model.
type lockTrackers struct {
	all []*tracker[lockState, lockInput]
}

// asked is an operation that was called and has no answer yet.
type asked struct {
	lock *lockTrackers
	ops  []*pending[lockInput]
	in   lockInput // for an operation that is never answered
}

// Event takes in the next event.
func (j *lockJudge) Event(i int, e *histories.Event) {
	switch e.Op {
	case histories.Acquire, histories.TryAcquire, histories.Release:
	default:
		return
	}
	if e.Type == histories.Invoke {
		j.n++
		lock := j.lock(e.Lock)
		a := asked{lock: lock, in: inputOf(e)}
		for _, t := range lock.all {
			a.ops = append(a.ops, t.call(about{process: e.Process, from: e.Time, call: i}))
		}
		j.asked[e.Process] = a
		return
	}
	a, open := j.asked[e.Process]
	if !open {
		return
	}
	delete(j.asked, e.Process)
	how := map[histories.Type]outcome{histories.OK: succeeded, histories.Fail: failed, histories.Info: unclear}[e.Type]
	for n, op := range a.ops {
		op.of.to, op.of.ret = e.Time, i
		a.lock.all[n].answer(op, how, inputOf(e))
	}
}

// gone is the owner of an acquire that names none and has no answer: its process does nothing
// more.
const gone = "a process that is gone"

// inputOf returns the input of the lock's model for an operation.
func inputOf(e *histories.Event) lockInput {
	in := lockInput{release: e.Op == histories.Release, owner: e.Owner, permits: max(e.Permits, 1)}
	switch {
	case in.owner != "":
	case e.Type != histories.OK && !in.release:
		in.owner = gone
	default:
		in.owner = fmt.Sprintf("process %d", e.Process)
	}
	if !in.release {
		in.fence = e.Token.Zxid
	}
	return in
}

func (j *lockJudge) lock(name string) *lockTrackers {
	l := j.locks[name]
	if l == nil {
		l = &lockTrackers{}
		for _, m := range j.models {
			l.all = append(l.all, newTracker(lockState{}, m.step, lockInput.reads, j.limits))
		}
		j.locks[name] = l
		j.names = append(j.names, name)
	}
	return l
}

// Conclude decides the verdict.
func (j *lockJudge) Conclude(v *verdict.Verdict) {
	for _, a := range j.asked {
		for n, op := range a.ops {
			a.lock.all[n].answer(op, unclear, a.in)
		}
	}
	v.Count("operations", j.n)
	var tally tally
	for n, m := range j.models {
		violated := false
		for _, name := range j.names {
			t := j.locks[name].all[n]
			broken, unknown := t.decide(j.caps)
			tally.unknown(unknown)
			if broken {
				violated = true
			}
			if broken && n == 0 { // the violations of the other models are the same, or fewer
				w := j.witness(m, name, t)
				v.Violate(func() verdict.Witness { return w })
			}
		}
		tally.add(m.Name, violated)
	}
	if j.n == 0 {
		v.Idle("nothing was done with a lock")
		return
	}
	tally.conclude(v, j.open)
}

// witness describes the operation that no order allows.
func (j *lockJudge) witness(m lockModel, name string, t *tracker[lockState, lockInput]) verdict.Witness {
	op := t.wrong
	if op == nil { // Porcupine alone has found it
		return verdict.Witness{Lock: name, What: fmt.Sprintf("no order of the operations of lock %q fits", name)}
	}
	party := verdict.Party{Process: op.of.process, From: op.of.from, To: op.of.to, Event: op.of.ret, Line: histories.Line(op.of.ret), Invoke: op.of.call}
	if !strings.HasPrefix(op.in.owner, "process ") {
		party.Owner = op.in.owner
	}
	return verdict.Witness{
		Lock: name, From: op.of.from, To: op.of.to, Parties: []verdict.Party{party},
		What: fmt.Sprintf("%v called %s of lock %q at %s and it succeeded at %s, which the model %s does not allow: %s", party, op.in.tell(m), name, verdict.At(op.of.from), verdict.At(op.of.to), m.Name, m.tell(t.state)),
	}
}

// tally collects the results of the models.
type tally struct {
	violated, held []string
	why            string // the reason why some lock is undecided
}

func (t *tally) unknown(why string) {
	if t.why == "" {
		t.why = why
	}
}

func (t *tally) add(model string, violated bool) {
	if violated {
		t.violated = append(t.violated, model)
		return
	}
	t.held = append(t.held, model)
}

// conclude sets the outcome.
func (t *tally) conclude(v *verdict.Verdict, open string) {
	switch {
	case len(t.held) == 0:
		v.Conclude("", "no order of the operations fits the model "+strings.Join(t.violated, " or "))
	case t.why != "":
		v.Outcome, v.Reason = verdict.Unknown, "not decided: "+t.why
	case len(t.violated) > 0:
		v.Outcome, v.Reason = verdict.Unknown, fmt.Sprintf("no order fits the model %s, and one fits %s: %s", strings.Join(t.violated, " or "), strings.Join(t.held, " and "), open)
	default:
		v.Conclude("an order of the operations fits the model "+strings.Join(t.held, " and "), "")
	}
	if v.Outcome != verdict.Violated {
		*v = cleared(v)
	}
}

// cleared returns a verdict without the violations of models that do not decide it.
func cleared(v *verdict.Verdict) verdict.Verdict {
	c := verdict.New(v.Guarantee, false)
	c.Outcome, c.Reason, c.Promised, c.Expected, c.Figures = v.Outcome, v.Reason, v.Promised, v.Expected, v.Figures
	return *c
}
