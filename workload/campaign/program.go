package campaign

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
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

// Start runs a command. env is added to the environment of this process. When ctx ends, the command
// is interrupted, and the error is the cause of that end. An exit status other than 0 is no error.
func (p Program) Start(ctx context.Context, env, args []string) (Ended, error) {
	cmd := exec.CommandContext(ctx, p.Path, append(p.Before, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopWithin
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	exit := new(exec.ExitError)
	switch {
	case ctx.Err() != nil:
		return Ended{}, context.Cause(ctx)
	case errors.As(err, &exit):
		return Ended{exit.ExitCode(), said.Bytes()}, nil
	}
	return Ended{0, said.Bytes()}, err
}

// Ended is the end of a command of zkverify.
type Ended struct {
	Status int
	Said   []byte // its standard output and standard error, joined
}

// The exit statuses of zkverify that campaigns look at.
const (
	BadUsage    = 64 // the command line is wrong
	Unavailable = 69 // a program or a server that it needs is missing
)

// LastWords returns the last error message of zkverify, or else the last line.
func (e Ended) LastWords() string {
	last, wrong := fmt.Sprintf("exit status %d", e.Status), ""
	for line := range strings.Lines(string(e.Said)) {
		last = strings.TrimSpace(line)
		if text, is := strings.CutPrefix(last, "zkverify: "); is {
			wrong = text
		}
	}
	return cmp.Or(wrong, last)
}

// Fresh makes an empty folder, and removes what was there.
func Fresh(dir string) error { return errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)) }

// Command returns the shell command for zkverify with an environment and arguments.
func Command(env, args []string) string {
	text := ""
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		text += name + "=" + words.Shell(value) + " "
	}
	return text + words.Command(append([]string{"zkverify"}, args...)...)
}

// Version is the version of zkverify, for pages.
type Version string

// Refused is an error in the command line, or in the files of a campaign.
type Refused struct{ error }

// Refuse returns a Refused with the text of fmt.Errorf.
func Refuse(format string, args ...any) error { return Refused{fmt.Errorf(format, args...)} }

// Unwrap returns the error.
func (r Refused) Unwrap() error { return r.error }
