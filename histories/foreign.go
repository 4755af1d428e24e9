package histories

import (
	"errors"
	"fmt"
	"io"
	"iter"
)

// foreign reads a history whose lines are operations of Jepsen, one at a time. A history in EDN
// may be one that EncodeEDN wrote.
type foreign struct {
	jepsen
	ops operations
}

// newForeign reads the header, if there is one. If there is none, survey or inMemory must find
// the Reading of the file before its events are read.
func newForeign(f format, r io.Reader) (*foreign, error) {
	s := &foreign{jepsen: newJepsen()}
	switch f {
	case formatLog:
		s.ops = (&logOperations{lines: newLines(r)}).next
	case formatJSON:
		s.ops = (&jsonOperations{lines: newLines(r)}).next
	default:
		s.ops = (&ednOperations{forms: newEDNReader(r)}).next
	}
	next := s.ops
	first, err := next()
	switch {
	case err != nil:
		return nil, err
	case first == nil:
		return nil, &FormatError{Reason: ErrEmpty.Error(), Err: ErrEmpty}
	case first.f == "header" && first.isNemesis() && f == formatEDN:
		header, _ := first.field(ednSpace + "header")
		err := s.readHeader(header)
		var bad *FormatError
		if err != nil && !errors.As(err, &bad) {
			err = &FormatError{Line: first.line, Reason: err.Error()}
		}
		return s, err
	}
	s.ops = func() (*jepsenOp, error) {
		s.ops = next
		return first, nil
	}
	return s, nil
}

// survey reads to the end of the file, and returns its Reading.
func (s *foreign) survey(as As) (*Reading, error) {
	return surveyed(func() (*jepsenOp, error) { return s.ops() }, as)
}

// inMemory reads all operations into memory, and finds the Reading of the file.
func (s *foreign) inMemory(as As) error {
	next := operations(func() (*jepsenOp, error) { return s.ops() })
	ops, err := next.inMemory()
	if err != nil {
		return err
	}
	r, err := surveyed(listed(ops), as)
	if err != nil {
		return err
	}
	s.as(r)
	s.ops = listed(ops)
	return nil
}

// Header returns the history's header.
func (s *foreign) Header() Header { return s.header }

// Truncated reports false: a file that is cut off is an error.
func (s *foreign) Truncated() (note string, truncated bool) { return "", false }

// Stream yields the events in order, the same event each time, filled anew. With an error it
// yields an empty event.
func (s *foreign) Stream() iter.Seq2[*Event, error] {
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

// Operations yields the operations of registers in order, the same one each time, filled anew.
func (s *foreign) Operations() iter.Seq2[*Operation, error] {
	return func(yield func(*Operation, error) bool) {
		out := &Operation{}
		for {
			o, err := s.ops()
			if err == nil && o == nil {
				return
			}
			is := false
			if err == nil {
				is, err = s.operation(o, out)
			}
			if err != nil {
				yield(&Operation{}, err)
				return
			}
			if is && !yield(out, nil) {
				return
			}
		}
	}
}

// operation turns an operation of the file into an operation of a register. It reports false for
// an operation of the nemesis, and for one that is left out.
func (s *foreign) operation(o *jepsenOp, out *Operation) (bool, error) {
	r := s.reading
	at := max(o.time, s.last+1)
	if !o.timed {
		at = s.last + 1000
	}
	s.last, s.line = at, o.line
	if !r.counts(o) {
		return false, nil
	}
	key, _, err := r.keyOf(o)
	if err == nil {
		*out = Operation{Line: o.line, Time: at, Process: r.processOf(o), Type: Type(o.kind), Key: key, F: o.f}
		out.Accesses, err = r.accesses(o)
	}
	return true, wrongAt(o, err)
}

func (s *foreign) foreignLine() int {
	if s.ours {
		return 0
	}
	return s.line
}

// format is the format of a history.
type format string

const (
	formatOurs format = "JSON lines of zkverify"
	formatJSON format = "JSON lines"
	formatEDN  format = "EDN"
	formatLog  format = "a log"
)

// refused returns the error for a file in a format that this package does not read.
func refused(text string, args ...any) error { return &FormatError{Reason: fmt.Sprintf(text, args...)} }
