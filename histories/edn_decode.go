package histories

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"olympos.io/encoding/edn"
)

// ednSpace is the namespace of the keys that Jepsen does not have.
const ednSpace = "zkverify/"

// DecodeEDN reads a Jepsen history: one map an operation, one after the other
// or in one vector. What [EncodeEDN] wrote is read back as it was.
//
// In a history of a Jepsen lock workload, :f is :acquire, :try-acquire or
// :release (:lock, :try-lock and :unlock are understood too) and :value is
// ignored; the lock is named by the key :lock, and is "lock" without it. What
// the :nemesis does becomes faults: an :f of :start, :start-x begins one and
// :stop, :stop-x ends it; any other :f lasts from its invocation to its
// completion. Without :time, operations are a microsecond apart. The header
// says Target "jepsen", and promises nothing.
func DecodeEDN(r io.Reader) (h *History, err error) {
	lines := &lineReader{r: bufio.NewReaderSize(r, 1<<16)}
	fail := func(err error) error { return &FormatError{Line: max(lines.line, 1), Reason: err.Error()} }
	d := edn.NewDecoder(lines)
	j := newJepsen()
	for {
		v, err := decodeForm(d)
		if lines.err != nil {
			return nil, fail(lines.err)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fail(fmt.Errorf("bad EDN: %w", err))
		}
		forms, ok := v.([]any)
		if !ok {
			forms = []any{v}
		}
		for _, f := range forms {
			if err := j.form(f); err != nil {
				return nil, fail(err)
			}
		}
	}
	if !j.started {
		return nil, &FormatError{Reason: ErrEmpty.Error(), Err: ErrEmpty}
	}
	return j.h, nil
}

// decodeForm reads one form. The library is asked nothing but well-nested
// input (see lineReader), and still its panics must not become ours.
func decodeForm(d *edn.Decoder) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the EDN reader gave up: %v", p)
		}
	}()
	err = d.Decode(&v)
	return v, err
}

// jepsen turns forms into a history.
type jepsen struct {
	h       *History
	valid   *validator
	started bool
	ours    bool // the file has our header
	nextID  int
	active  map[string]*Fault
	last    time.Duration
}

func newJepsen() *jepsen {
	return &jepsen{
		h:      &History{Header: Header{Version: Version, Recipe: string(Mutex), Target: "jepsen"}},
		valid:  newValidator(nil),
		active: map[string]*Fault{},
	}
}

func (j *jepsen) form(v any) error {
	for {
		t, tagged := v.(edn.Tag) // #jepsen.history.Op{…}
		if !tagged {
			break
		}
		v = t.Value
	}
	m, ok := v.(map[any]any)
	if !ok {
		return fmt.Errorf("an operation is a map, not %T", v)
	}
	fields := map[string]any{}
	for k, v := range m {
		name, ok := k.(edn.Keyword)
		if !ok {
			return fmt.Errorf("the keys of an operation are keywords, not %T", k)
		}
		fields[string(name)] = v
	}
	first := !j.started
	j.started = true
	if word(fields["f"]) == "header" && first {
		return j.header(fields)
	}
	e, skip, err := j.event(fields)
	if err != nil || skip {
		return err
	}
	if err := j.valid.check(&e); err != nil {
		return err
	}
	j.h.Events = append(j.h.Events, e)
	j.last = e.Time
	return nil
}

func (j *jepsen) header(fields map[string]any) error {
	b, err := toJSON(fields[ednSpace+"header"])
	if err != nil {
		return err
	}
	var version struct {
		Version int `json:"zkverify"`
	}
	if err := json.Unmarshal(b, &version); err != nil {
		return errors.New("bad header: " + err.Error())
	}
	if err := checkVersion(version.Version); err != nil {
		return err
	}
	j.ours = true
	j.h.Header = Header{}
	if err := strict(b, &j.h.Header); err != nil {
		return err
	}
	j.valid = newValidator(j.h.Header.Locks)
	return j.h.Header.check()
}

// event turns the fields of one operation into an event.
func (j *jepsen) event(fields map[string]any) (e Event, skip bool, err error) {
	if _, timed := fields["time"]; !timed {
		fields["time"] = int64(j.last + time.Microsecond)
	}
	if word(fields["process"]) == "nemesis" && fields[ednSpace+"event"] == nil {
		return j.nemesis(fields)
	}
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
		b, err := toJSON(out)
		if err != nil {
			return e, false, err
		}
		e, err = decodeEvent(b)
		return e, false, err
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
	b, err := toJSON(out)
	if err != nil {
		return e, false, err
	}
	e, err = decodeEvent(b)
	return e, false, err
}
