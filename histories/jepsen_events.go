package histories

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// jepsen turns operations into events.
type jepsen struct {
	header  Header
	ours    bool // the file has a zkverify header
	reading *Reading
	valid   *validator
	shared  reader // the strings of earlier events
	nextID  int
	active  map[string]*Fault
	begun   bool           // there was an operation
	last    time.Duration  // the time of the last operation
	line    int            // on which the last operation ends
	n       int            // operations so far
	open    map[int]*asked // the open operations on locks, by process
	leaving map[int]bool   // processes whose open operation is left out
}

func newJepsen() jepsen {
	return jepsen{
		header:  Header{Version: Version, Recipe: string(Mutex), Target: "jepsen", ReleaseNotHeld: NotHeldViolation},
		reading: &Reading{},
		valid:   newValidator(nil),
		active:  map[string]*Fault{},
		open:    map[int]*asked{},
		leaving: map[int]bool{},
	}
}

// as sets the reading by which operations become events.
func (j *jepsen) as(r *Reading) {
	j.reading = r
	for _, m := range r.Models {
		if !m.Register {
			j.header.Models = append(j.header.Models, m.Name)
		}
	}
	j.header.Size = r.Size
	if len(r.Models) > 0 && r.Models[0].Name != ModelOwnerMutex {
		j.header.Recipe = r.Models[0].Name
	}
}

// add converts the next operation to an event. It reports false if the operation is no event.
func (j *jepsen) add(o *jepsenOp) (bool, error) {
	j.n++
	is, err := j.event(o)
	if err == nil && is {
		err = j.valid.check(&o.event)
	}
	if err != nil || !is {
		return false, wrongAt(o, err)
	}
	j.shared.intern(&o.event)
	j.last = o.event.Time
	return true, nil
}

// wrongAt makes err a FormatError on the line of an operation.
func wrongAt(o *jepsenOp, err error) error {
	if err == nil {
		return nil
	}
	return &FormatError{Line: o.line, Reason: err.Error()}
}

// event converts an operation to an event, if it is one.
func (j *jepsen) event(o *jepsenOp) (is bool, err error) {
	at := o.time
	switch {
	case !o.timed:
		at = j.last + time.Microsecond
	case !j.ours && j.begun && at >= 0:
		at = max(at, j.last+1)
	}
	j.begun, j.line = true, o.line
	if j.ours || o.space {
		if !o.isNemesis() || o.has("event") {
			o.event, err = jepsenEvent(o.fields())
			if !j.ours || !o.timed {
				o.event.Time = at
			}
			return true, err
		}
	}
	if err := o.complete(); err != nil {
		return false, err
	}
	o.event = Event{Time: at, Process: -1}
	if o.isNemesis() {
		j.last = max(j.last, at)
		return j.nemesis(o.f, &o.event), nil
	}
	if !j.reading.counts(o) {
		return false, nil
	}
	if j.reading.register {
		return false, fmt.Errorf("a history of %ss, which have no lock events: zkverify check judges it, and nothing else reads it", j.reading.Models[0].Name)
	}
	return j.lockEvent(o, &o.event)
}

func (o *jepsenOp) has(ours string) bool { _, ok := o.field(ednSpace + ours); return ok }

// lockEvent converts an operation on a lock to an event.
func (j *jepsen) lockEvent(o *jepsenOp, e *Event) (bool, error) {
	r := j.reading
	e.Op = jepsenOps[o.f]
	if e.Op == "" {
		return false, fmt.Errorf("unknown op %.40q", o.f)
	}
	if o.process > math.MaxInt32 || o.process < 0 {
		return false, fmt.Errorf("process %d does not exist", o.process)
	}
	e.Process = r.processOf(o)
	e.Type, e.Refused = r.answer(o)
	if e.Type == Invoke && r.dropped[j.n] {
		j.leaving[e.Process] = true
		return false, nil
	}
	if j.leaving[e.Process] {
		delete(j.leaving, e.Process)
		return false, nil
	}
	if err := j.nameOf(o, e); err != nil {
		return false, err
	}
	if o.err != nil {
		e.Error = told(o.err) // a keyword, a string or a vector
	}
	e.Owner = r.ownerOfEvent(o, e.Process)
	if e.Type == OK && e.Op != Release {
		fence, _ := r.fenceOf(o)
		e.Token.Zxid = fence
	}
	return true, r.permitsOf(o, e)
}

// nameOf finds the lock of an event. An answer need not name it.
func (j *jepsen) nameOf(o *jepsenOp, e *Event) error {
	key, said, err := j.reading.keyOf(o)
	if err != nil {
		return err
	}
	was := j.open[e.Process]
	if was == nil {
		was = &asked{}
		j.open[e.Process] = was
	}
	if e.Type == Invoke {
		was.key = key
	}
	if e.Lock = key; !said {
		e.Lock = was.key
	}
	return nil
}

// processOf returns the number of a process.
func (r *Reading) processOf(o *jepsenOp) int {
	if o.word == "" {
		return int(o.process)
	}
	return r.firstName + r.numbers[o.word]
}

// AnyOwner is the owner of an operation that does not name its owner, in a file whose other
// operations do: it may be any owner.
const AnyOwner = "?"

// ownerOfEvent returns the owner of an operation as the file names it, or the name of its process.
func (r *Reading) ownerOfEvent(o *jepsenOp, process int) string {
	if !r.clients {
		return o.word
	}
	if owner := r.ownerOf(o); owner != "" {
		return owner
	}
	if owner := r.owners[process]; owner != "" {
		return owner
	}
	if o.kind == string(Invoke) {
		return "" // the answer may tell it
	}
	return AnyOwner
}

// permitsOf sets the number of permits of an operation.
func (r *Reading) permitsOf(o *jepsenOp, e *Event) error {
	if !r.permits() {
		return nil
	}
	v, named := fieldOf(o, "permits")
	if !named {
		v = r.valueOf(o)
	}
	n, is := whole(v)
	if !is || r.Key == keyValue && !named {
		n = 1
	}
	if n < 1 || n > math.MaxInt32 {
		return fmt.Errorf("%d permits", n)
	}
	e.Permits = int(n)
	return nil
}

// jepsenEvent converts the fields of an operation that has keys of zkverify to an event.
func jepsenEvent(fields map[string]any) (Event, error) {
	out := map[string]any{"time": fields["time"]}
	for k, v := range fields {
		if name, ours := strings.CutPrefix(k, ednSpace); ours {
			out[name] = v
		}
	}
	if kind := out["event"]; kind != nil {
		// An event of zkverify that Jepsen does not know.
		delete(out, "event")
		out["type"] = word(kind)
		return eventOf(out)
	}
	f := word(fields["f"])
	if op := jepsenOps[f]; op != "" {
		f = string(op)
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

// eventOf reads an event from the fields of a JSON line.
func eventOf(fields map[string]any) (Event, error) {
	b, err := toJSON(fields)
	if err != nil {
		return Event{}, err
	}
	return decodeEvent(b)
}
