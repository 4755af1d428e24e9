package histories

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"olympos.io/encoding/edn"
)

// DecodeEDN reads a Jepsen history: one map an operation, one after the other
// or in one vector. What [EncodeEDN] wrote is read back as it was.
//
// In a history of a Jepsen lock workload, :f is :acquire, :try-acquire or
// :release (:lock, :try-lock and :unlock are understood too) and :value is
// ignored; the lock is named by the key :lock, and is "lock" without it. What
// the :nemesis does becomes faults: an :f of :start, :start-x begins one and
// :stop, :stop-x ends it; any other :f lasts from its invocation to its
// completion. The header says Target "jepsen", promises nothing, and has
// ReleaseNotHeld "violation".
//
// Jepsen's workers take the :time of an operation before it is put into the
// history, so that an operation may have an earlier time than the one before.
// Operations are in the order of their :index if all have one, otherwise in that of
// the lines, and a :time that is not later than the one before is taken for a
// nanosecond after it: equal times would say that nobody knows the order. Without
// :time, operations are a microsecond apart. A history that EncodeEDN wrote is read as
// strictly as JSON lines.
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
			if err := j.form(f, lines.line); err != nil {
				return nil, fail(err)
			}
		}
	}
	if err := lines.unclosed(); err != nil {
		return nil, fail(err)
	}
	if !j.started {
		return nil, &FormatError{Reason: ErrEmpty.Error(), Err: ErrEmpty}
	}
	if err := j.inOrder(); err != nil {
		return nil, err
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

// form takes in what ends on a line.
func (j *jepsen) form(v any, line int) error {
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
	o, err := newJepsenOp(fields, line)
	switch {
	case err != nil:
		return err
	case j.ours:
		return j.add(&o)
	}
	j.foreign = append(j.foreign, o)
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
