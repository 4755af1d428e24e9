package histories

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"
	"unicode/utf8"
)

// Decode reads a history of JSON lines. The error for input that breaks the
// format is a [*FormatError].
func Decode(r io.Reader) (*History, error) {
	s, err := NewScanner(r)
	if err != nil {
		return nil, err
	}
	return s.History()
}

// source reads a history in one of the formats, one event at a time.
type source interface {
	Header() Header
	Stream() iter.Seq2[*Event, error]
	Truncated() (note string, truncated bool)
	foreignLine() int // the line of the last event, in a file without a zkverify header; else 0
}

// History reads the events that are left.
func (s *Scanner) History() (*History, error) { return historyOf(s, s.Stream()) }

// historyOf reads the events that are left.
func historyOf(s source, events iter.Seq2[*Event, error]) (*History, error) {
	h := &History{Header: s.Header()}
	// In chunks: growing one slice would copy all events several times, and keep
	// the copies for a while.
	var chunks [][]Event
	chunk := make([]Event, 0, 1<<13)
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if len(chunk) == cap(chunk) {
			chunks = append(chunks, chunk)
			chunk = make([]Event, 0, cap(chunk))
		}
		chunk = append(chunk, *e)
		if line := s.foreignLine(); line > 0 {
			h.Lines = append(h.Lines, line)
		}
	}
	h.Events = slices.Concat(append(chunks, chunk)...)
	if len(h.Events) == 0 {
		h.Events = nil
	}
	h.Note, h.Truncated = s.Truncated()
	return h, nil
}

func (s *Scanner) foreignLine() int { return 0 }

// Scanner reads a history one event at a time, in memory that does not grow
// with its length.
type Scanner struct {
	r      *bufio.Reader
	header Header
	valid  *validator
	reader reader
	line   int
	note   string
}

// NewScanner reads the header of r.
func NewScanner(r io.Reader) (*Scanner, error) {
	s := &Scanner{r: bufio.NewReaderSize(r, 1<<16)}
	line, whole, err := s.next()
	if errors.Is(err, io.EOF) {
		return nil, &FormatError{Reason: ErrEmpty.Error(), Err: ErrEmpty}
	}
	if err != nil {
		return nil, err
	}
	// The version is read first, by itself: a newer format may have fields that
	// this one does not know, and "newer version" is the better error then.
	var version struct {
		Version int `json:"zkverify"`
	}
	if err := json.Unmarshal(line, &version); err != nil {
		if !whole {
			return nil, &FormatError{Line: 1, Reason: "the header is cut off", Err: ErrEmpty}
		}
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			return nil, &FormatError{Line: 1, Reason: "this is no history, its first line is not JSON: " + err.Error()}
		}
		return nil, s.bad(err)
	}
	if err := checkVersion(version.Version); err != nil {
		return nil, err
	}
	err = strict(line, &s.header)
	if err == nil {
		err = s.header.check()
	}
	if err != nil {
		return nil, s.bad(err)
	}
	s.valid = newValidator(s.header.Locks)
	return s, nil
}

// Header returns the first line.
func (s *Scanner) Header() Header { return s.header }

// Truncated reports whether the file was cut off, and where. It is known once Events
// has come to its end.
func (s *Scanner) Truncated() (note string, truncated bool) { return s.note, s.note != "" }

// Events yields the events in order. An error is the last thing it yields.
func (s *Scanner) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for e, err := range s.Stream() {
			if !yield(*e, err) {
				return
			}
		}
	}
}

// Stream is a faster Events: it yields the same event each time, filled anew. With
// an error it yields an empty event.
func (s *Scanner) Stream() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		e := &Event{}
		for {
			ok, err := s.scan(e)
			if err != nil {
				yield(&Event{}, err)
				return
			}
			if !ok || !yield(e, nil) {
				return
			}
		}
	}
}

// scan reads one event, if there is another.
func (s *Scanner) scan(e *Event) (bool, error) {
	line, whole, err := s.next()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !s.reader.event(line, e) {
		*e, err = decodeEvent(line)
		if err != nil && !whole {
			// A whole object without its newline would have parsed, so
			// this is the rest of a write that the crash cut short.
			s.note = fmt.Sprintf("line %d is cut off after %d bytes", s.line, len(line))
			return false, nil
		}
		if err != nil {
			return false, s.bad(err)
		}
		s.reader.intern(e)
	}
	if err := s.valid.check(e); err != nil {
		return false, s.bad(err)
	}
	return true, nil
}

// next returns the next line without its newline, and whether it had one. The
// line is good until the next call.
func (s *Scanner) next() (line []byte, whole bool, err error) {
	if s.note != "" {
		return nil, false, io.EOF
	}
	for {
		part, err := s.r.ReadSlice('\n')
		if err == nil && line == nil {
			s.line++
			return part[:len(part)-1], true, nil // nothing to be put together
		}
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			s.line++
			return nil, false, s.bad(fmt.Errorf("line is longer than %d bytes", maxLine))
		case err == nil:
			s.line++
			return line[:len(line)-1], true, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.ErrUnexpectedEOF):
			// A decompressor returns this error for a stream that was never closed.
			s.note = fmt.Sprintf("the compressed stream is cut off after line %d", s.line)
			fallthrough
		case errors.Is(err, io.EOF):
			if len(line) == 0 {
				return nil, false, io.EOF
			}
			s.line++
			return line, false, nil
		default:
			return nil, false, &FormatError{Line: s.line + 1, Reason: err.Error(), Err: err}
		}
	}
}

func (s *Scanner) bad(err error) error {
	f := &FormatError{Line: s.line, Reason: err.Error()}
	if errors.Is(err, ErrRetired) {
		f.Err = ErrRetired
		f.Reason = err.Error()[len(ErrRetired.Error())+2:]
	}
	return f
}

// wireEvent tells a field that is absent from one that is zero.
type wireEvent struct {
	Time    *time.Duration `json:"time"`
	Type    *Type          `json:"type"`
	Process *int           `json:"process"`
	plainEvent
}

type plainEvent Event

func decodeEvent(line []byte) (Event, error) {
	var w wireEvent
	if err := strict(line, &w); err != nil {
		return Event{}, err
	}
	switch {
	case w.Type == nil:
		return Event{}, errors.New(`required field "type" is missing`)
	case w.Time == nil:
		return Event{}, errors.New(`required field "time" is missing`)
	case w.Process == nil:
		return Event{}, errors.New(`required field "process" is missing`)
	}
	e := Event(w.plainEvent)
	e.Time, e.Type, e.Process = *w.Time, *w.Type, *w.Process
	return e, nil
}

var errNotUTF8 = errors.New("not UTF-8")

// strict decodes exactly one JSON object. It refuses fields that v does not have.
func strict(line []byte, v any) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return errors.New("the line is empty")
	}
	if bytes.TrimSpace(line)[0] != '{' {
		return errors.New("the line is not a JSON object")
	}
	if !utf8.Valid(line) {
		return errNotUTF8 // two names could become one
	}
	if err := withinLine(line); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return errors.New("bad JSON: " + err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("bad JSON: more than one value on the line")
	}
	return nil
}
