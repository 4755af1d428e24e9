package histories

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
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
	s, err := newEDNScanner(r)
	if err != nil {
		return nil, err
	}
	if err := s.inOrder(); err != nil {
		return nil, err
	}
	return historyOf(s, s.Stream())
}

// ednScanner reads a history of EDN one operation at a time.
type ednScanner struct {
	jepsen
	forms *ednReader
	ops   func() (*jepsenOp, error) // the next operation; nil behind the last one
}

// newEDNScanner reads the header, if there is one, or the first operation.
func newEDNScanner(r io.Reader) (*ednScanner, error) {
	s := &ednScanner{jepsen: newJepsen(), forms: newEDNReader(r)}
	s.ops = s.read
	fields, err := s.form()
	if err != nil {
		return nil, err
	}
	if fields == nil {
		return nil, &FormatError{Reason: ErrEmpty.Error(), Err: ErrEmpty}
	}
	if word(fields["f"]) == "header" {
		return s, s.wrong(s.readHeader(fields))
	}
	first, err := newJepsenOp(fields, s.forms.line)
	if err != nil {
		return nil, s.wrong(err)
	}
	s.ops = func() (*jepsenOp, error) {
		s.ops = s.read
		return first, nil
	}
	return s, nil
}

// wrong makes err an error of the format, on the line that is read.
func (s *ednScanner) wrong(err error) error {
	var f *FormatError
	if err == nil || errors.As(err, &f) {
		return err
	}
	return &FormatError{Line: s.forms.line, Reason: err.Error()}
}

// form reads the fields of the next operation; nil if there is none.
func (s *ednScanner) form() (map[string]any, error) {
	v, err := s.forms.operation()
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case s.forms.failed != nil:
		return nil, &FormatError{Line: s.forms.line, Reason: err.Error(), Err: err}
	case err != nil:
		return nil, s.wrong(fmt.Errorf("bad EDN: %w", err))
	}
	for {
		t, is := v.(tagged) // #jepsen.history.Op{…}
		if !is {
			break
		}
		v = t.value
	}
	m, ok := v.(ednMap)
	if !ok {
		return nil, s.wrong(fmt.Errorf("an operation is a map, not %s", kindOf(v)))
	}
	fields := make(map[string]any, len(m))
	for _, p := range m {
		name, ok := p.key.(keyword)
		if !ok {
			return nil, s.wrong(fmt.Errorf("the keys of an operation are keywords, not %s", kindOf(p.key)))
		}
		fields[string(name)] = p.value
	}
	return fields, nil
}

// read reads the next operation.
func (s *ednScanner) read() (*jepsenOp, error) {
	fields, err := s.form()
	if err != nil || fields == nil {
		return nil, err
	}
	o, err := newJepsenOp(fields, s.forms.line)
	return o, s.wrong(err)
}

// Header returns the history's header.
func (s *ednScanner) Header() Header { return s.header }

// Truncated reports nothing: EDN that is cut off is an error.
func (s *ednScanner) Truncated() (note string, truncated bool) { return "", false }

// Stream yields the events in order, the same event each time, filled anew. With an error it
// yields an empty one.
func (s *ednScanner) Stream() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		for {
			o, err := s.ops()
			if err == nil && o == nil {
				return
			}
			is := false
			if err == nil {
				is, err = s.add(o)
			}
			if err != nil {
				yield(&Event{}, err)
				return
			}
			if is && !yield(&o.event, nil) {
				return
			}
		}
	}
}

func (s *ednScanner) foreignLine() int {
	if s.ours {
		return 0
	}
	return s.line
}

// readHeader takes in the header of a history that EncodeEDN wrote.
func (j *jepsen) readHeader(fields map[string]any) error {
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
	j.header = Header{}
	if err := strict(b, &j.header); err != nil {
		return err
	}
	j.valid = newValidator(j.header.Locks)
	return j.header.check()
}
