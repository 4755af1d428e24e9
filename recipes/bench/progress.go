package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// load returns the load average of the last minute, if the system provides it.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// progressTo shows the progress: in one line of a terminal, which end removes, otherwise in
// a line whenever the case changes.
func progressTo(out io.Writer) (show func(format string, args ...any), end func()) {
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		return func(format string, args ...any) { fmt.Fprintf(out, "\r\x1b[K"+format, args...) },
			func() { fmt.Fprint(out, "\r\x1b[K") }
	}
	last := ""
	return func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if stage, _, _ := strings.Cut(text, ":"); stage != last {
			last = stage
			fmt.Fprintln(out, stage)
		}
	}, func() {}
}
