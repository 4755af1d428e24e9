package main

import (
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/zkverify/zkverify/report"
)

func newConsole() *console {
	return &console{out: os.Stdout, err: os.Stderr, terminal: term.IsTerminal(int(os.Stderr.Fd()))}
}

// say tells how a command is getting on. Results go to con.out.
func (con *console) say(format string, args ...any) {
	fmt.Fprintf(con.err, format+"\n", args...)
}

func (con *console) style() report.Style {
	f, ok := con.out.(*os.File)
	return report.Style{Color: ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == ""}
}
