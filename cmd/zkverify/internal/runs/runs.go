// Package runs makes runs by starting zkverify, and reads the verdicts in their folders. The
// commands that make many runs share it.
package runs

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/words"
)

// Program is a program that is started for each run: zkverify.
type Program struct {
	Path   string
	Before []string // arguments before those of each command; for tests
}

// stopWithin is the time that an interrupted run has to judge what it has recorded.
const stopWithin = time.Minute

// Start runs a command and returns its standard output and standard error, joined. env is added
// to the environment of this process. When ctx ends, the command is interrupted. The error is
// that of exec.Cmd.Run.
func (p Program) Start(ctx context.Context, env, args []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.Path, append(p.Before, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopWithin
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	return said.Bytes(), err
}

// The exit statuses of zkverify that the commands here look at.
const (
	BadUsage    = 64 // the command line is wrong
	Unavailable = 69 // a program or a server that it needs is missing
)

// LastWords returns the last error message of zkverify in its output, or else the last line.
func LastWords(said []byte) string {
	last, wrong := "", ""
	for line := range strings.Lines(string(said)) {
		last = strings.TrimSpace(line)
		if text, is := strings.CutPrefix(last, "zkverify: "); is {
			wrong = text
		}
	}
	return cmp.Or(wrong, last)
}

// Command returns the shell command for zkverify with an environment and arguments.
func Command(env, args []string) string {
	text := ""
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		text += name + "=" + words.Shell(value) + " "
	}
	return text + words.Command(append([]string{"zkverify"}, args...)...)
}
