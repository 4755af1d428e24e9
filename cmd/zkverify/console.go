package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/locks"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/report"
)

// console holds the outputs of a command, and what is known of the terminal. Text that is
// written to out and err passes through doors.
type console struct {
	out, err io.Writer
	terminal bool // err is a terminal: show a bar, use colors
	json     bool // write all messages as JSON lines

	// live is the console that shows the progress of a run whose messages go to a file, and
	// label names that run there among several. Nil: this console.
	live  *console
	label string

	// instead replaces this program by another one that can carry out a command which ended with
	// targets.ErrNoMutants. It returns only if that fails. Nil: there is no other program.
	instead func(error) error
}

func newConsole() *console {
	return &console{out: os.Stdout, err: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
}

// behindDoors returns a copy of con whose outputs pass through the door to a terminal.
func (con *console) behindDoors() *console {
	other := *con
	if other.out != nil {
		other.out = words.Terminal(other.out)
	}
	if other.err != nil {
		other.err = words.Terminal(other.err)
	}
	return &other
}

// screen returns the writer behind the door of w, for bars; w itself if it has no door.
func screen(w io.Writer) io.Writer {
	if door, ok := w.(*words.Door); ok {
		return door.Behind()
	}
	return w
}

// terminalOf returns the terminal that w writes to, and whether it writes to one.
func terminalOf(w io.Writer) (*os.File, bool) {
	f, ok := screen(w).(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// as returns a copy of con that writes JSON lines, or no messages.
func (con *console) as(json, quiet bool) *console {
	other := *con
	if json {
		other.json, other.terminal, other.live = true, false, nil
	}
	if quiet {
		other.err, other.terminal, other.live = io.Discard, false, nil
	}
	return &other
}

// say writes a message about the progress of a command to con.err. Results go to con.out.
func (con *console) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if con.json {
		con.line(map[string]string{"message": text})
		return
	}
	con.print(text)
}

// print writes a text to con.err.
func (con *console) print(text string) { wrapped(con.err, text) }

// tell writes a text to con.out.
func (con *console) tell(format string, args ...any) { wrapped(con.out, fmt.Sprintf(format, args...)) }

// tellLines writes the lines of a text to con.out. Each must be a line of zkverify: text from
// other sources must have passed words.Line.
func (con *console) tellLines(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		wrapped(con.out, line)
	}
}

// wrapped writes the lines of a text, to a terminal without breaking words. Lines after the
// first are indented: they may come from a history, and must not look like lines of zkverify.
func wrapped(w io.Writer, text string) {
	width := 0
	if f, ok := terminalOf(w); ok {
		width, _, _ = term.GetSize(int(f.Fd())) //nolint:errcheck // no limit then
	}
	for i, line := range strings.Split(text, "\n") {
		if i > 0 && line != "" && !strings.HasPrefix(line, "  ") {
			line = "  " + line
		}
		for _, part := range words.Wrap(line, width) {
			fmt.Fprintln(w, part)
		}
	}
}

// line writes a value as a line of JSON.
func (con *console) line(v any) {
	if text, err := json.Marshal(v); err == nil {
		fmt.Fprintf(con.err, "%s\n", text)
	}
}

// style returns the style of reports on con.out: without limits unless it is a terminal.
func (con *console) style(verbose bool) report.Style {
	f, ok := terminalOf(con.out)
	if !ok {
		return report.Style{Verbose: verbose}
	}
	s := report.Style{Color: os.Getenv("NO_COLOR") == "", Verbose: verbose}
	s.Width, s.Height, _ = term.GetSize(int(f.Fd())) //nolint:errcheck // no limit then
	return s
}

// forLocks returns the console of zkverify locks, which draws tables on a terminal and asks
// questions there.
func (con *console) forLocks() *locks.Console {
	c := &locks.Console{Out: con.out, Err: con.err, In: os.Stdin, Asks: term.IsTerminal(int(os.Stdin.Fd()))}
	if f, ok := terminalOf(con.out); ok {
		c.Screen = f
		c.Size = func() (width, height int) {
			width, height, err := term.GetSize(int(f.Fd()))
			if err != nil || width <= 0 || height <= 0 {
				return 80, 24
			}
			return width, height
		}
	}
	if f, ok := terminalOf(con.err); ok {
		c.ErrWidth, _, _ = term.GetSize(int(f.Fd())) //nolint:errcheck // no limit then
	}
	return c
}
