package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// slot is the place of a worker: one process after the other.
type slot struct {
	number  int
	cfg     Config
	spawner *child.Spawner
	late    *lateness
	died    func(error) // called with the error of a process that has ended by itself
	log     *child.Log  // of all processes; nil before the first

	mu       sync.Mutex
	process  *workerProcess // the latest
	expected bool           // the run ends it
	up       chan struct{}  // closed when there is a process that has said hello
	left     []error        // errors about processes that are left running
}

// workerProcess is one process from its start to its end.
type workerProcess struct {
	*child.Piped
	connection *connection
	gone       chan struct{} // closed when it has ended and everything that it said was read
	failed     error         // why the run has ended it, if it has; set before gone is closed
}

// ended returns how the process ended, once it is gone.
func (p *workerProcess) ended() error {
	<-p.Done()
	return p.Err()
}

func newSlot(number int, cfg Config, spawner *child.Spawner) *slot {
	return &slot{number: number, cfg: cfg, spawner: spawner, late: newLateness(cfg.Slack)}
}

func (w *slot) name() string { return fmt.Sprintf("worker %d", w.number) }

// withLastWords adds to an error the end of what the processes wrote to their standard error.
func (w *slot) withLastWords(err error) error {
	lines := w.log.LastLines(10)
	if strings.TrimSpace(lines) == "" {
		return fmt.Errorf("%w; it wrote nothing to its standard error", err)
	}
	return fmt.Errorf("%w; the end of %s:\n%s", err, w.log.Name(), lines)
}

// start starts a process, and returns when it has said hello.
func (w *slot) start(ctx context.Context) (err error) {
	p, err := w.spawn()
	if err != nil {
		return fmt.Errorf("%s: %w", w.name(), err)
	}
	w.mu.Lock()
	w.process, w.expected = p, false
	up := w.up
	if up == nil {
		up = make(chan struct{})
		w.up = up
	}
	w.mu.Unlock()
	late, hurry := time.After(protocol.HelloWithin), w.cfg.Hurry
	for {
		select {
		case <-p.connection.hello:
			close(up)
			return nil
		case <-p.gone:
			if exit := new(exec.ExitError); errors.As(p.ended(), &exit) && exit.ExitCode() == exitUnavailable {
				return fmt.Errorf("%w: %s", ErrUnavailable, strings.TrimSpace(w.log.LastLines(1)))
			}
			if p.failed != nil {
				return w.withLastWords(p.failed)
			}
			return w.withLastWords(fmt.Errorf("%s ended before it said hello (%v)", w.name(), p.ended()))
		case <-hurry:
			hurry, late = nil, time.After(hurryWithin)
		case <-late:
			w.stop()
			return w.withLastWords(fmt.Errorf("%s did not say hello within %v", w.name(), protocol.HelloWithin))
		case <-ctx.Done():
			w.stop()
			return w.withLastWords(fmt.Errorf("%s did not say hello: %w", w.name(), context.Cause(ctx)))
		}
	}
}

func (w *slot) spawn() (*workerProcess, error) {
	if len(w.cfg.Command) == 0 {
		return nil, errors.New("no command was given")
	}
	if w.log == nil {
		log, err := child.CreateLog(filepath.Join(w.cfg.Logs, fmt.Sprintf("worker-%d.log", w.number)))
		if err != nil {
			return nil, err
		}
		w.log = log
	}
	process, err := w.spawner.StartPiped(exec.Command(w.cfg.Command[0], w.cfg.Command[1:]...), w.log)
	if err != nil {
		return nil, err
	}
	p := &workerProcess{Piped: process, connection: newConnection(w.name(), process.In, w.late), gone: make(chan struct{})}
	p.connection.within = cmp.Or(w.cfg.Patience, p.connection.within)
	p.connection.hurry = w.cfg.Hurry
	// Ends when the process has closed its output, at the latest when it has ended: end and
	// kill make sure of that.
	go func() {
		defer close(p.gone)
		w.attend(p)
	}()
	return p, nil
}

// attend talks with a process until it has ended.
func (w *slot) attend(p *workerProcess) {
	var talking sync.WaitGroup // ends with the connection, and with the process's output
	talking.Go(p.connection.write)
	if w.cfg.Slack > 0 {
		talking.Go(func() { p.connection.askWhetherItRuns(w.cfg.Slack) })
	}
	heard := make(chan error, 1)
	talking.Go(func() { heard <- p.connection.listen(p.Out) })
	var why error
	select {
	case why = <-p.connection.failed:
		w.kill(p)
		<-heard
	case why = <-heard:
	}
	closed := false
	if why == nil {
		// Its output has ended: the process has ended too, or else it can no longer be used.
		select {
		case <-p.Done():
		case <-time.After(child.DrainWithin):
			closed = true
		}
	}
	w.kill(p)
	w.mu.Lock()
	expected := w.expected
	w.mu.Unlock()
	if closed {
		why = fmt.Errorf("%s closed its standard output and went on", w.name())
	}
	if p.failed = why; why == nil && !expected {
		why = fmt.Errorf("%s ended by itself (%v)", w.name(), p.Err())
	}
	p.connection.close(why, func() {
		if why != nil && w.died != nil {
			w.died(w.withLastWords(why))
		}
	})
	_ = p.In.Close()
	talking.Wait()
	_ = p.Out.Close()
}

// kill ends a process and all processes that it has started.
func (w *slot) kill(p *workerProcess) {
	if err := p.Kill(); err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.left = append(w.left, fmt.Errorf("%s: %w", w.name(), err))
	}
}

func (w *slot) current() *workerProcess {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.process
}

// open starts a client in the process, as soon as there is one.
func (w *slot) open(ctx context.Context, o Opening) (*Client, error) {
	w.mu.Lock()
	up := w.up
	w.mu.Unlock()
	select {
	case <-up:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return openClient(ctx, w.current().connection, o)
}

// pause stops the process, and resume lets it go on.
func (w *slot) pause(ctx context.Context) error {
	w.late.pause()
	return w.current().Stop(ctx)
}

func (w *slot) resume() error {
	defer w.late.resumed()
	err := w.current().Continue()
	if errors.Is(err, child.ErrEnded) {
		return nil // that is reported elsewhere
	}
	return err
}

// stop ends the process at once, and returns when all consequences of its end are on record.
func (w *slot) stop() {
	w.mu.Lock()
	w.expected = true
	w.up = make(chan struct{})
	p := w.process
	w.mu.Unlock()
	w.late.unasked()
	p.Process.Kill() // attend ends the processes that it has started
	<-p.gone
}

// endWithin is the time that a process has to end after the end of its input.
const endWithin = 2 * time.Second

// end ends the process, in good order if it obeys the protocol. The error says what it did not
// do, or which processes are left.
func (w *slot) end() error {
	w.mu.Lock()
	w.expected = true
	p := w.process
	w.mu.Unlock()
	if p == nil {
		return nil
	}
	p.connection.leave()
	_ = p.Continue() // in case it is paused
	w.late.unasked()
	_ = p.In.Close()
	var err error
	select {
	case <-p.gone:
	case <-time.After(endWithin):
		w.kill(p)
		<-p.gone
		err = fmt.Errorf("%s did not end within %v of the end of its standard input, and was killed", w.name(), endWithin)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(append(w.left, err, w.log.Close())...)
}
