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

// console is where commands write, and what they are told of the terminal. What is
// written to out and err passes doors.
type console struct {
	out, err io.Writer
	terminal bool // err is a terminal: show a bar, use colors
	json     bool // say everything as JSON lines

	// live is where to show how a run stands whose words go to a file, and label says
	// there which run of several it is. Nil: here.
	live  *console
	label string

	// instead has another program carry out a command that ended with the error, which is
	// targets.ErrNoMutants, and returns only if that cannot be. Nil: there is no other.
	instead func(error) error
}

func newConsole() *console {
	return &console{out: os.Stdout, err: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
}

// behindDoors is con whose words all pass the door to a terminal.
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

// screen is what is behind the door of w: a bar is drawn there.
func screen(w io.Writer) io.Writer {
	if door, ok := w.(*words.Door); ok {
		return door.Behind()
	}
	return w
}

// terminalOf returns the terminal that w writes to, if it does.
func terminalOf(w io.Writer) (*os.File, bool) {
	f, ok := screen(w).(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// as is con for machines, or for those who want to hear nothing.
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

// say tells how a command is getting on. Results go to con.out.
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

// tellLines writes lines to con.out, of which each is ours: what comes from others has passed
// words.Line.
func (con *console) tellLines(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		wrapped(con.out, line)
	}
}

// wrapped writes the lines of a text, to a terminal without breaking words. Further lines
// are set in: they may be those of a history, and are to be told from ours.
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

// style is how reports look on con.out: without limits unless it is a terminal.
func (con *console) style(verbose bool) report.Style {
	f, ok := terminalOf(con.out)
	if !ok {
		return report.Style{Verbose: verbose}
	}
	s := report.Style{Color: os.Getenv("NO_COLOR") == "", Verbose: verbose}
	s.Width, s.Height, _ = term.GetSize(int(f.Fd())) //nolint:errcheck // no limit then
	return s
}

// forLocks is the console of zkverify locks, which shows tables on a terminal and asks.
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
