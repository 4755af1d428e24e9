package models

import (
	"context"
	"fmt"
	"iter"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Registers judges a history of registers. It returns an error that comes instead of an
// operation. An operation that does not fit into the history gives a [histories.FormatError].
func Registers(ctx context.Context, r *histories.Reading, operations iter.Seq2[*histories.Operation, error], caps Caps) (*checker.Report, error) {
	j := &registerJudge{reading: r, keys: map[string]*registerTracker{}, open: map[int]*registerAsked{}, inputs: map[string]*registerInput{}, written: map[string]bool{}}
	j.limits, j.caps = caps.begin(ctx)
	for o, err := range operations {
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := j.add(o); err != nil {
			return nil, err
		}
	}
	v := verdict.New(Linearizability, false)
	v.Promised, v.Expected = true, true
	j.conclude(v)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	v.TellViolations()
	return &checker.Report{Verdicts: []verdict.Verdict{*v}, Events: j.events}, nil
}

type registerJudge struct {
	reading *histories.Reading
	limits  *limits
	caps    *judge.Caps
	keys    map[string]*registerTracker
	names   []string
	open    map[int]*registerAsked
	inputs  map[string]*registerInput
	written map[string]bool // the values that operations have tried to write, by key and register
	events  int
	n       int
}

type registerTracker struct {
	*tracker[registerState, *registerInput]
	model registers
}

type registerAsked struct {
	t     *registerTracker
	op    *pending[*registerInput]
	first histories.Operation
}

// add takes in the next operation of the file.
func (j *registerJudge) add(o *histories.Operation) error {
	j.events++
	a := j.open[o.Process]
	wrong := func(format string, args ...any) error {
		return &histories.FormatError{Line: o.Line, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case o.Type == histories.Invoke && a != nil:
		return wrong("process %d invokes %s while its %s of line %d is open", o.Process, o.F, a.first.F, a.first.Line)
	case o.Type == histories.Invoke:
		j.n++
		t := j.tracker(o.Key)
		j.write(o)
		j.open[o.Process] = &registerAsked{t, t.call(about{process: o.Process, from: o.Time, call: j.events - 1, line: o.Line}), *o}
		return nil
	case o.Type != histories.OK && o.Type != histories.Fail && o.Type != histories.Info:
		return wrong("unknown type %.40q", o.Type)
	case a == nil:
		return wrong("process %d completes %s without an invocation", o.Process, o.F)
	case a.first.F != o.F || a.first.Key != o.Key:
		return wrong("process %d completes %s of %s but invoked %s of %s", o.Process, o.F, o.Key, a.first.F, a.first.Key)
	}
	delete(j.open, o.Process)
	a.op.of.to, a.op.of.ret, a.op.of.line = o.Time, j.events-1, o.Line
	switch o.Type {
	case histories.OK:
		a.t.answer(a.op, succeeded, j.input(o))
	case histories.Fail:
		a.t.answer(a.op, failed, nil)
	default:
		a.t.answer(a.op, unclear, j.input(&a.first))
	}
	return nil
}

func (j *registerJudge) tracker(key string) *registerTracker {
	t := j.keys[key]
	if t == nil {
		t = &registerTracker{model: registers{func(register string) (string, bool) {
			if register == "" {
				register = key
			}
			return j.reading.Start(register)
		}}}
		t.tracker = newTracker(registerState(""), t.model.step, (*registerInput).reads, j.limits)
		j.keys[key] = t
		j.names = append(j.names, key)
	}
	return t
}

// write records the values that an operation tries to write.
func (j *registerJudge) write(o *histories.Operation) {
	for _, a := range o.Accesses {
		switch a.Kind {
		case histories.WriteAccess:
			j.written[o.Key+between+a.Register+between+a.Value] = true
		case histories.CASAccess:
			j.written[o.Key+between+a.Register+between+a.New] = true
		}
	}
}

// input returns the input of the model for an operation. Equal operations share it.
func (j *registerJudge) input(o *histories.Operation) *registerInput {
	in := &registerInput{text: o.F}
	for _, a := range o.Accesses {
		if a.Kind == histories.ReadAccess && !a.Known {
			a.Value = ""
		}
		s := step{a, a.Kind != histories.WriteAccess && !j.written[o.Key+between+a.Register+between+a.Value]}
		in.steps = append(in.steps, s)
		in.text += " "
		if a.Register != "" {
			in.text += string(a.Kind) + " " + a.Register + " "
		}
		if in.text += a.Value; a.Kind == histories.CASAccess {
			in.text += " to " + a.New
		}
	}
	id := fmt.Sprintf("%+v", in.steps)
	if known := j.inputs[id]; known != nil {
		return known
	}
	j.inputs[id] = in
	return in
}

func (j *registerJudge) conclude(v *verdict.Verdict) {
	for _, a := range j.open {
		a.t.answer(a.op, unclear, j.input(&a.first))
	}
	v.Count("operations", j.n)
	var tally tally
	violated := false
	for _, name := range j.names {
		t := j.keys[name]
		broken, unknown := t.decide(j.caps)
		tally.unknown(unknown)
		if broken {
			violated = true
			w := j.witness(name, t)
			v.Violate(func() verdict.Witness { return w })
		}
	}
	tally.add(j.reading.Models[0].Name, violated)
	if j.n == 0 {
		v.Idle("nothing was done with a register")
		return
	}
	tally.conclude(v, "")
}

func (j *registerJudge) witness(name string, t *registerTracker) verdict.Witness {
	op := t.wrong
	if op == nil {
		return verdict.Witness{What: fmt.Sprintf("no order of the operations of register %q fits", name)}
	}
	party := verdict.Party{Process: op.of.process, From: op.of.from, To: op.of.to, Event: op.of.ret, Line: op.of.line, Invoke: op.of.call}
	return verdict.Witness{
		Lock: name, From: op.of.from, To: op.of.to, Parties: []verdict.Party{party},
		What: fmt.Sprintf("%v has done %s on line %d, which the model %s does not allow: before it, %s", party, op.in.tell(), op.of.line, j.reading.Models[0].Name, t.model.tell(t.state)),
	}
}
