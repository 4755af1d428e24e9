package locks

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/words"
)

// Console holds the inputs and outputs of the commands, and what is known of the terminal.
type Console struct {
	Out, Err io.Writer
	In       io.Reader
	// Screen is the terminal that Out writes to, for tables that are drawn over each other;
	// nil if Out is no terminal.
	Screen io.Writer
	// Asks says that In is a terminal.
	Asks bool
	// Size returns the width and height of the terminal Out; nil if Out is no terminal.
	Size func() (width, height int)
	// ErrWidth is the width of the terminal Err; 0 if Err is no terminal.
	ErrWidth int
	// Now is the wall clock; nil: time.Now.
	Now func() time.Time
}

func (con *Console) now() time.Time {
	if con.Now != nil {
		return con.Now()
	}
	return time.Now()
}

// say writes a remark to Err, which is not a part of the result.
func (con *Console) say(format string, args ...any) {
	paragraphs(con.Err, con.ErrWidth, "", fmt.Sprintf(format, args...))
}

// tell writes a text of the result to Out, with an indent.
func (con *Console) tell(indent, text string) {
	width := 0
	if con.Screen != nil {
		width, _ = con.Size()
	}
	paragraphs(con.Out, width, indent, text)
}

// paragraphs writes the lines of a text, without breaking words where there is a width.
func paragraphs(w io.Writer, width int, indent, text string) {
	if width > 0 {
		width = max(1, width-len(indent))
	}
	for line := range strings.SplitSeq(text, "\n") {
		for _, part := range words.Wrap(line, width) {
			fmt.Fprintln(w, indent+part)
		}
	}
}

// The exit statuses of these commands, which are those of zkverify.
const (
	exitFound       = 1  // doctor has findings
	exitUnsure      = 2  // something could not be read, or was not done
	exitUsage       = 64 // the command line is wrong, or the request is refused
	exitUnavailable = 69 // no servers
	exitBusy        = 75 // run did not get the lock
)

// Exit is an error with its exit status. Err is nil if the command has printed everything.
type Exit struct {
	Status int
	Err    error
}

// Error returns the text of Err, "" if that is nil.
func (e *Exit) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *Exit) Unwrap() error { return e.Err }

func refuse(format string, args ...any) error { return &Exit{exitUsage, fmt.Errorf(format, args...)} }
