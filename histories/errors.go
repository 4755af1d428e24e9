package histories

import (
	"errors"
	"fmt"
)

// ErrNewerVersion is wrapped by the error of a reader whose file was written in
// a format newer than [Version].
var ErrNewerVersion = errors.New("written by a newer zkverify")

// ErrEmpty is wrapped by the error of a reader whose file is empty, or holds only
// the beginning of a header.
var ErrEmpty = errors.New("empty history")

// ErrRetired is wrapped by the error that [Recorder.Record] and the readers
// return for an event of a process that is retired. A target's late callback is
// the usual cause; the event is not recorded.
var ErrRetired = errors.New("process is retired")

// ErrClosed is returned by [Recorder.Record] after Close.
var ErrClosed = errors.New("histories: recorder is closed")

// FormatError reports a line of a file that breaks the format, and the reason.
type FormatError struct {
	File   string // empty when the history did not come from a file
	Line   int    // 1 is the header; 0 when the file as a whole is at fault
	Reason string
	Err    error // the sentinel that this error stands for, or nil
}

// Error names the file, the line and the reason.
func (e *FormatError) Error() string {
	where := ""
	switch {
	case e.File != "" && e.Line > 0:
		where = fmt.Sprintf("%s:%d: ", e.File, e.Line)
	case e.File != "":
		where = e.File + ": "
	case e.Line > 0:
		where = fmt.Sprintf("line %d: ", e.Line)
	}
	if e.Err != nil && e.Reason != e.Err.Error() {
		return where + e.Err.Error() + ": " + e.Reason
	}
	return where + e.Reason
}

// Unwrap returns the sentinel, if there is one.
func (e *FormatError) Unwrap() error { return e.Err }

// inFile adds the name of the file to an error of a reader.
func inFile(err error, file string) error {
	var f *FormatError
	if errors.As(err, &f) && f.File == "" {
		f.File = file
	}
	return err
}
