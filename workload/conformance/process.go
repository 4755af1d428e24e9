package conformance

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// process is a worker process under test, with its commands and its lines.
type process struct {
	*child.Piped
	log     *child.Log    // of its standard error
	patient time.Duration // the longest time that it may leave its standard input unread
	started int64         // on the clock of protocol.Now
	over    chan struct{} // closed when nothing more can be read
	found   func(kind, text string)
	greeted bool // it has written a line

	mu      sync.Mutex
	said    []heard
	changed chan struct{}  // closed, and made anew, with each line
	next    int64          // number of the last command
	pending map[int64]bool // commands that are not answered
	clients map[int]bool   // that were opened
	flow    protocol.Flow
}

// heard is a line of a worker.
type heard struct {
	protocol.Line
	text string // to show: without secrets
}

// start starts a worker. found is called with each line that breaks the rules for all lines.
func start(spawner *child.Spawner, command []string, file string, patience time.Duration, found func(kind, text string)) (*process, error) {
	log, err := child.CreateLog(file)
	if err != nil {
		return nil, err
	}
	p := &process{
		log: log, patient: patience, started: protocol.Now(), over: make(chan struct{}), found: found,
		changed: make(chan struct{}), pending: make(map[int64]bool), clients: make(map[int]bool),
	}
	if p.Piped, err = spawner.StartPiped(exec.Command(command[0], command[1:]...), log); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	// Ends when the output does, at the latest with the process: end kills it.
	go func() {
		defer close(p.over)
		defer p.Out.Close()
		p.listen(p.Out)
	}()
	return p, nil
}

// end ends the process, if it has not ended, and all processes that it has started.
func (p *process) end() error {
	err := p.Kill()
	_ = p.In.Close()
	<-p.over
	return errors.Join(err, p.log.Close())
}

// send writes a command, under a number of its own.
func (p *process) send(c protocol.Command) protocol.Command {
	p.mu.Lock()
	if c.Do != protocol.DoCancel {
		p.next++
		c.ID = p.next
		p.pending[c.ID] = true
		p.flow.Asked()
	}
	p.clients[c.Client] = true
	p.mu.Unlock()
	if text, err := protocol.Encode(c); err == nil {
		p.write(text)
	}
	return c
}

// write writes to the worker's input. If a command does not arrive, its answer is missing.
func (p *process) write(text []byte) {
	_ = p.In.SetWriteDeadline(time.Now().Add(p.patient))
	_, _ = p.In.Write(text)
}

// mark returns the place after all lines until now.
func (p *process) mark() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.said)
}

// await waits for a line from a mark on. It reports false when none came in time, or the output
// has ended.
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
			over = nil // the last lines are looked at once more
		case <-ctx.Done():
			return protocol.Line{}, false
		}
	}
}

// since returns the lines from a mark on, in a few lines of text.
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

// lastWords returns the end of the worker's standard error, "" if it wrote nothing.
func (p *process) lastWords() string {
	if p.log.Size() == 0 {
		return ""
	}
	return p.log.LastLines(10)
}

// sessionNumber parses a session in the form of workers; it returns 0 if it is none.
func sessionNumber(name string) int64 {
	n, err := strconv.ParseUint(name, 0, 64)
	if err != nil || !strings.HasPrefix(name, "0x") {
		return 0
	}
	return int64(n)
}
