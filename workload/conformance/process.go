package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// process is a worker process under test: what it was told, and what it said.
type process struct {
	*child.Process
	stdin   *os.File
	log     string        // the file with its standard error
	started int64         // on the clock of protocol.Now
	over    chan struct{} // closed when nothing more can be read
	found   func(kind, text string)
	greeted bool // it has said something

	mu      sync.Mutex
	said    []heard
	changed chan struct{}  // closed, and made anew, with each line
	next    int64          // number of the last command
	pending map[int64]bool // commands that are not answered
	clients map[int]bool   // that were asked for
}

// heard is a line of a worker.
type heard struct {
	protocol.Line
	text string // to show: no secrets
}

// start starts a worker. found is told of lines that break the rules, whatever
// they answer.
func start(spawner *child.Spawner, command []string, log string, found func(kind, text string)) (*process, error) {
	stderr, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	defer out.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, stderr
	p := &process{
		stdin: stdin, log: log, started: protocol.Now(), over: make(chan struct{}), found: found,
		changed: make(chan struct{}), pending: make(map[int64]bool), clients: make(map[int]bool),
	}
	if p.Process, err = spawner.Start(cmd); err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	// Ends with the process, or when what it left behind has had its time.
	go func() {
		<-p.Done()
		_ = stdout.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	}()
	// Ends when the output does, at the latest with the process: end kills it.
	go func() {
		defer close(p.over)
		defer stdout.Close()
		p.listen(stdout)
	}()
	return p, nil
}

// end ends the process, if it has not ended.
func (p *process) end() {
	p.Kill()
	_ = p.stdin.Close()
	<-p.over
}

// send writes a command, under a number of its own.
func (p *process) send(c protocol.Command) protocol.Command {
	p.mu.Lock()
	if c.Do != protocol.DoCancel {
		p.next++
		c.ID = p.next
		p.pending[c.ID] = true
	}
	p.clients[c.Client] = true
	p.mu.Unlock()
	if text, err := protocol.Encode(c); err == nil {
		p.write(text)
	}
	return c
}

// write writes to the worker's input. That it does not arrive is seen by the
// answers that do not come.
func (p *process) write(text []byte) { _, _ = p.stdin.Write(text) }

// mark is the place after all that was said until now.
func (p *process) mark() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.said)
}

// await waits for a line from a mark on. It reports false when none came in time,
// or none can come any more.
func (p *process) await(ctx context.Context, from int, within time.Duration, is func(protocol.Line) bool) (protocol.Line, bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	over := p.over
	for {
		p.mu.Lock()
		for ; from < len(p.said); from++ {
			if is(p.said[from].Line) {
				l := p.said[from].Line
				p.mu.Unlock()
				return l, true
			}
		}
		changed := p.changed
		p.mu.Unlock()
		if over == nil {
			return protocol.Line{}, false
		}
		select {
		case <-changed:
		case <-over:
			over = nil // what came last is looked at once more
		case <-ctx.Done():
			return protocol.Line{}, false
		}
	}
}

// since tells what came from a mark on, in a few lines.
func (p *process) since(from int) string {
	p.mu.Lock()
	var lines []string
	for _, h := range p.said[from:] {
		lines = append(lines, h.text)
	}
	p.mu.Unlock()
	const few = 3
	if len(lines) > few {
		lines = append(lines[:few:few], fmt.Sprintf("(and %d more)", len(lines)-few))
	}
	if len(lines) == 0 {
		lines = []string{"nothing"}
	}
	select {
	case <-p.over: // so has the process, or it is about to
		select {
		case <-p.Done():
		case <-time.After(time.Second):
		}
	default:
	}
	if !p.Alive() {
		end := "status 0"
		if p.Err() != nil {
			end = p.Err().Error()
		}
		lines = append(lines, "(the process has ended: "+end+")")
	}
	return strings.Join(lines, "\n")
}

// lastWords is the end of what the worker wrote to its standard error, "" if it
// wrote nothing.
func (p *process) lastWords() string {
	if info, err := os.Stat(p.log); err != nil || info.Size() == 0 {
		return ""
	}
	return child.LastLines(p.log, 10)
}

// sessionNumber reads a session as workers write it; 0 if it is none.
func sessionNumber(name string) int64 {
	n, err := strconv.ParseUint(name, 0, 64)
	if err != nil || !strings.HasPrefix(name, "0x") {
		return 0
	}
	return int64(n)
}
