package histories

import "fmt"

// Version is the format version that this package writes, and the newest that
// it reads. Version 2 added the recipes other than the mutex, version 3 the states
// of servers, version 4 the times in which the recording process stood still, version 5 whether the
// context of a call had ended, and whether its failure has a reason.
const Version = 5

// History is one whole run.
type History struct {
	Header Header
	Events []Event

	// Truncated reports whether the file ended in the middle of a line or of a
	// compressed block: the run died, and Events holds the events up to there.
	Truncated bool
	// Note describes where the file was cut off.
	Note string

	// Lines holds the line of each event in the file from which the history was read, if
	// that file has no zkverify header; else it is nil. See LineOf.
	Lines []int
}

// LineOf returns the line of event i in the file from which h was read. If h was not read
// from a file, it returns the line on which the event would be written. In EDN it is
// the line on which the operation ends.
func (h *History) LineOf(i int) int {
	if i >= 0 && i < len(h.Lines) {
		return h.Lines[i]
	}
	return Line(i)
}

// Line returns the line of event i in a file of JSON lines. Line 1 is the header.
func Line(i int) int { return i + 2 }

// Validate reports the first event that breaks a rule of the format, as a
// [*FormatError]. A history that [ReadFile] or [Decode] returned is valid; a history
// that was put together by hand may not be.
func Validate(h *History) error {
	if err := checkVersion(h.Header.Version); err != nil {
		return err
	}
	if err := h.Header.check(); err != nil {
		return &FormatError{Line: 1, Reason: err.Error()}
	}
	v := newValidator(h.Header.Locks)
	for i := range h.Events {
		if err := v.check(&h.Events[i]); err != nil {
			return &FormatError{Line: Line(i), Reason: err.Error()}
		}
	}
	return nil
}

func checkVersion(v int) error {
	switch {
	case v < 1:
		return &FormatError{Line: 1, Reason: `the first line is not a header: no format version in "zkverify"`}
	case v > Version:
		return &FormatError{Line: 1, Reason: fmt.Sprintf("format version %d, this program reads up to %d", v, Version), Err: ErrNewerVersion}
	}
	return nil
}
