package protocol

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// The limits of a worker, in time and in bytes. docs/worker.md lists them for its authors.
const (
	// HelloWithin is the time that a process has to say hello, a Java machine too.
	HelloWithin = 20 * time.Second
	// AnswerWithin is the time that a process has to answer a command that it answers at once:
	// all but the operations of a lock. An open and a close may take as long as their client
	// wants them to, and then as long as this.
	AnswerWithin = 10 * time.Second
	// MaxLine bounds a line.
	MaxLine = 1 << 20
	// MaxName bounds every name: of a lock, a session, a node, an event.
	MaxName = 1000
	// The longest error or description, and the longest and most stacks, that are kept of a
	// line; a longer text is cut.
	maxText, maxStack, maxStacks = 1000, 10_000, 1000
)

// Lines returns a scanner of the lines of a worker, each with its newline. It leaves out a last one
// without a newline, since the worker may have been killed in the middle of it, and fails with
// bufio.ErrTooLong at a line of MaxLine bytes or more.
func Lines(out io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, MaxLine)
	lines.Split(func(data []byte, atEnd bool) (int, []byte, error) {
		if n := bytes.IndexByte(data, '\n') + 1; n > 0 {
			return n, data[:n], nil
		}
		return 0, nil, nil
	})
	return lines
}

// AnsweredAtOnce reports whether the answer to a command waits only for the worker.
func (c Command) AnsweredAtOnce() bool {
	switch c.Do {
	case DoEcho, DoValid, DoListen, DoCensus, DoPromises, DoCrash:
		return true
	}
	return false
}

// EndsWhenCancelled reports whether the answer to a command that may wait for servers comes
// soon after it is cancelled, for every lock. For operations of the lock the run gives up the
// client instead.
func (c Command) EndsWhenCancelled() bool { return c.Do == DoOpen || c.Do == DoClose }

// Bound returns an error for a line with a name that is too long, and cuts its texts.
func (l *Line) Bound() error {
	for field, name := range map[string]string{
		"event": l.Event, "why": l.Why, "session": l.Session, "password": string(l.Password), "lock": l.Lock, "node": l.Node,
	} {
		if len(name) > MaxName {
			return fmt.Errorf("%s has %d bytes, more than %d", field, len(name), MaxName)
		}
	}
	l.Error = cut(l.Error, maxText)
	if l.Hosts != nil {
		l.Hosts.Description = cut(l.Hosts.Description, maxText)
	}
	if more := len(l.Stacks) - maxStacks; more > 0 {
		l.Stacks = append(l.Stacks[:maxStacks], fmt.Sprintf("(and %d more)", more))
	}
	for i := range l.Stacks {
		l.Stacks[i] = cut(l.Stacks[i], maxStack)
	}
	return nil
}

// cut shortens a text to most bytes, and notes that it did.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("… (%d bytes more)", len(text)-most)
}

// reserve limits the lines of a worker that a run has not asked for. It refills with time and
// with each command, up to where it began. An event takes one of it, and each KiB of any line
// another one.
const (
	reserve    = 10_000
	eachSecond = 100
	eachAsked  = 20
)

// Flow measures whether a worker says more than a run has asked for. Its zero value is ready;
// its caller orders the calls.
type Flow struct {
	taken float64 // of the reserve
	until time.Time
}

// Asked counts a command to the worker.
func (f *Flow) Asked() { f.taken = max(0, f.taken-eachAsked) }

// Said counts a line of some bytes. It returns an error if the reserve is used up.
func (f *Flow) Said(l Line, bytes int, now time.Time) error {
	if !f.until.IsZero() {
		f.taken = max(0, f.taken-now.Sub(f.until).Seconds()*eachSecond)
	}
	f.until = now
	f.taken += float64(bytes / 1024)
	if l.Event != "" {
		f.taken++
	}
	if f.taken > reserve {
		return fmt.Errorf("it says more than it is asked: over %d events or KiB, and %d a second and %d for each command", reserve, eachSecond, eachAsked)
	}
	return nil
}
