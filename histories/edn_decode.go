package histories

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// DecodeEDN reads a Jepsen history: one map an operation, one after the other
// or in one vector. What [EncodeEDN] wrote is read back as it was.
//
// For any other history, the locks and models are found as [OpenAs] finds them. The operations
// of the :nemesis become faults: an :f of :start or :start-x begins a fault and :stop or
// :stop-x ends it, and so do the pairs of jepsen.nemesis.combined, such as :kill and
// :start; a fault of any other :f lasts from its invocation to its completion. The header has
// the Target "jepsen", no promises, the models, and the ReleaseNotHeld "violation".
//
// Jepsen's workers take the :time of an operation before it is put into the
// history, so an operation may have an earlier time than the one before it.
// Operations are read in the order of their :index if all have one, otherwise in the
// order of the lines. A :time that is not later than the one before becomes one
// nanosecond later than that: equal times would leave the order open. Without
// :time, operations are a microsecond apart. A history that EncodeEDN wrote is read as
// strictly as JSON lines.
func DecodeEDN(r io.Reader) (h *History, err error) {
	s, err := newForeign(formatEDN, r)
	if err != nil {
		return nil, err
	}
	if !s.ours {
		if err := s.inMemory(As{}); err != nil {
			return nil, err
		}
	}
	return historyOf(s, s.Stream())
}

// ednOperations reads operations of EDN.
type ednOperations struct {
	forms *ednReader
	o     jepsenOp
	first *jepsenOp // read already, to see whether it is a header
}

// next reads the next operation.
func (s *ednOperations) next() (*jepsenOp, error) {
	if o := s.first; o != nil {
		s.first = nil
		return o, nil
	}
	v, err := s.forms.operationInto(&s.o)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case s.forms.failed != nil:
		return nil, &FormatError{Line: s.forms.line, Reason: err.Error(), Err: err}
	case err != nil:
		return nil, s.wrong(fmt.Errorf("bad EDN: %w", err))
	case v == any(&s.o):
		return &s.o, nil
	}
	return &s.o, s.wrong(s.take(v))
}

// take converts a form to an operation.
func (s *ednOperations) take(v any) error {
	for {
		t, is := v.(tagged) // #jepsen.history.Op{…}
		if !is {
			break
		}
		v = t.value
	}
	m, ok := v.(ednMap)
	if !ok {
		return fmt.Errorf("an operation is a map, not %s", kindOf(v))
	}
	s.o.clear()
	s.o.line = s.forms.line
	for _, p := range m {
		name, ok := p.key.(keyword)
		if !ok {
			return fmt.Errorf("the keys of an operation are keywords, not %s", kindOf(p.key))
		}
		if err := s.o.set(string(name), p.value); err != nil {
			return err
		}
	}
	return nil
}

// wrong makes err a FormatError on the current line.
func (s *ednOperations) wrong(err error) error {
	if err == nil {
		return nil
	}
	return &FormatError{Line: s.forms.line, Reason: err.Error()}
}

// readHeader reads the header of a history that EncodeEDN wrote.
func (j *jepsen) readHeader(header any) error {
	b, err := toJSON(header)
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
