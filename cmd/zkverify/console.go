package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/zkverify/zkverify/report"
)

func newConsole() *console {
	return &console{out: os.Stdout, err: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
}

// as is con for machines, or for those who want to hear nothing.
func (con *console) as(json, quiet bool) *console {
	other := *con
	if json {
		other.json, other.terminal = true, false
	}
	if quiet {
		other.err, other.terminal = io.Discard, false
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
	fmt.Fprintln(con.err, text)
}

// line writes a value as a line of JSON.
func (con *console) line(v any) {
	if text, err := json.Marshal(v); err == nil {
		fmt.Fprintf(con.err, "%s\n", text)
	}
}

func (con *console) style() report.Style {
	f, ok := con.out.(*os.File)
	return report.Style{Color: ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == ""}
}
