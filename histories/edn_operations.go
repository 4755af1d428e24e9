package histories

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// jepsenOp is one operation of a file.
type jepsenOp struct {
	event   Event
	nemesis string // the :f of an operation of the nemesis, which is no event yet
	line    int    // of the file, on which it ends
	timed   bool   // it has a :time
	indexed bool   // it has an :index
	index   int64
}

func newJepsenOp(fields map[string]any, line int) (o *jepsenOp, err error) {
	o = &jepsenOp{line: line}
	if index, ok := fields["index"]; ok {
		if o.index, o.indexed = index.(int64); !o.indexed {
			return nil, fmt.Errorf("the index of an operation is an integer, not %s", kindOf(index))
		}
	}
	if _, o.timed = fields["time"]; !o.timed {
		fields["time"] = int64(0)
	}
	if word(fields["process"]) != "nemesis" || fields[ednSpace+"event"] != nil {
		o.event, err = jepsenEvent(fields)
		return o, err
	}
	at, ok := fields["time"].(int64)
	if !ok {
		return nil, fmt.Errorf("the time of an operation is an integer, not %s", kindOf(fields["time"]))
	}
	if o.nemesis = word(fields["f"]); o.nemesis == "" {
		return nil, errors.New("a nemesis operation has no :f")
	}
	o.event = Event{Time: time.Duration(at), Process: -1}
	return o, nil
}

// inOrder has the operations of a file without our header read at once, if all have an index,
// and puts them into its order.
func (s *ednScanner) inOrder() error {
	if s.ours {
		return nil
	}
	var ops []*jepsenOp
	for {
		o, err := s.ops()
		if err != nil {
			return err
		}
		if o == nil {
			break
		}
		ops = append(ops, o)
	}
	s.ops = func() (o *jepsenOp, err error) {
		if len(ops) > 0 {
			o, ops = ops[0], ops[1:]
		}
		return o, nil
	}
	if slices.ContainsFunc(ops, func(o *jepsenOp) bool { return !o.indexed }) {
		return nil
	}
	slices.SortStableFunc(ops, func(a, b *jepsenOp) int { return cmp.Compare(a.index, b.index) })
	for i := 1; i < len(ops); i++ {
		if a, b := ops[i-1], ops[i]; a.index == b.index {
			return &FormatError{Line: b.line, Reason: fmt.Sprintf("index %d is that of line %d, too", b.index, a.line)}
		}
	}
	return nil
}

// ordered reads to the end, and reports whether the operations of a file are in order as they
// stand there.
func (s *ednScanner) ordered() (bool, error) {
	inOrder, indexed := true, true
	last := int64(0)
	for first := true; ; first = false {
		o, err := s.ops()
		if o == nil || err != nil {
			return inOrder || !indexed, err
		}
		indexed = indexed && o.indexed
		inOrder = inOrder && (first || o.index > last)
		last = o.index
	}
}

// add takes in the next operation. It reports false for one that is no event.
func (j *jepsen) add(o *jepsenOp) (bool, error) {
	e := &o.event
	switch {
	case !o.timed:
		e.Time = j.last + time.Microsecond
	case !j.ours && j.begun && e.Time >= 0:
		e.Time = max(e.Time, j.last+1)
	}
	j.begun, j.line = true, o.line
	if o.nemesis != "" {
		j.last = max(j.last, e.Time)
		if !j.nemesis(o.nemesis, e) {
			return false, nil // the second of a pair
		}
	}
	if err := j.valid.check(e); err != nil {
		return false, &FormatError{Line: o.line, Reason: err.Error()}
	}
	j.shared.intern(e)
	j.last = e.Time
	return true, nil
}

// jepsenEvent turns the fields of one operation into an event.
func jepsenEvent(fields map[string]any) (Event, error) {
	out := map[string]any{"time": fields["time"]}
	for k, v := range fields {
		if name, ours := strings.CutPrefix(k, ednSpace); ours {
			out[name] = v
		}
	}
	if kind := out["event"]; kind != nil {
		// One of ours that Jepsen has no notion of.
		delete(out, "event")
		out["type"] = word(kind)
		return eventOf(out)
	}
	f := word(fields["f"])
	for alias, op := range map[string]Op{"lock": Acquire, "try-lock": TryAcquire, "unlock": Release} {
		if f == alias {
			f = string(op)
		}
	}
	out["type"], out["op"], out["process"] = word(fields["type"]), f, fields["process"]
	if out["lock"] == nil && out["parts"] == nil {
		out["lock"] = "lock"
		if l := word(fields["lock"]); l != "" {
			out["lock"] = l
		}
	}
	if v, ok := fields["value"].(int64); ok && (f == string(Read) || f == string(Write)) {
		out["value"] = v
	}
	if (f == string(Read) || f == string(Write)) && out["store"] == nil {
		out["store"] = StorePlain // Jepsen's counters have no fence
	}
	if out["error"] == nil && fields["error"] != nil {
		out["error"] = fmt.Sprint(fields["error"]) // a keyword, a string or a vector
	}
	return eventOf(out)
}

// eventOf reads the fields as JSON lines have them.
func eventOf(fields map[string]any) (Event, error) {
	b, err := toJSON(fields)
	if err != nil {
		return Event{}, err
	}
	return decodeEvent(b)
}
