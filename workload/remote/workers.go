package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// Config says in which processes the clients of a run live. The zero value
// means in this one.
type Config struct {
	N int // how many; client i lives in process i%N+1
	// Command starts one: a program that runs [Worker], or another that speaks
	// its protocol. Required if there are any.
	Command []string
	// Logs is the folder for what they write to their standard error:
	// worker-1.log and so on. Required if there are any.
	Logs string
	// Slack is how late a line may be for a violation to be held against the lock. Each
	// process is asked whether it runs four times in it. Zero: none is asked.
	Slack time.Duration
}

// ErrUnavailable is the error of a worker that ends with the status 69 (EX_UNAVAILABLE): what it
// needs is not there, such as a library.
var ErrUnavailable = errors.New("the worker lacks something")

// exitUnavailable is the exit status of such a worker.
const exitUnavailable = 69

// Workers are the worker processes of a run.
type Workers struct {
	spawner *child.Spawner
	all     []*slot
}

// Start starts them, and returns when each has said hello. died is called with
// the error of one that has ended by itself. After an error they are to be ended too.
func Start(ctx context.Context, cfg Config, died func(error)) (*Workers, error) {
	w := &Workers{spawner: child.NewSpawner()}
	var g errgroup.Group
	for i := range cfg.N {
		one := newSlot(i+1, cfg, w.spawner)
		one.died = died
		w.all = append(w.all, one)
		g.Go(func() error { return one.start(ctx) })
	}
	return w, g.Wait()
}

// slot returns the one that a client lives in.
func (w *Workers) slot(client int) *slot { return w.all[client%len(w.all)] }

// Number returns the number of the worker that a client lives in, from 1.
func (w *Workers) Number(client int) int { return w.slot(client).number }

// Open starts a client in its worker, as soon as there is a process.
func (w *Workers) Open(ctx context.Context, client int, o Opening) (*Client, error) {
	return w.slot(client).open(ctx, o)
}

// Pause stops the process of a worker, given by its number.
func (w *Workers) Pause(ctx context.Context, worker int) error { return w.all[worker-1].pause(ctx) }

// Resume lets the process of a worker go on.
func (w *Workers) Resume(worker int) error { return w.all[worker-1].resume() }

// Kill ends the process of a worker, and returns when all that follows from its end is
// on record.
func (w *Workers) Kill(worker int) { w.all[worker-1].stop() }

// Start starts another process for a worker, and returns when it has said hello.
func (w *Workers) Start(ctx context.Context, worker int) error { return w.all[worker-1].start(ctx) }

// End ends all processes, and returns when they are gone.
func (w *Workers) End() {
	var wg sync.WaitGroup
	for _, one := range w.all {
		wg.Go(one.end)
	}
	wg.Wait()
	w.spawner.Close()
}

// Goroutines asks each for what its closed clients have left running.
func (w *Workers) Goroutines(ctx context.Context) (left []string, err error) {
	stacks, errs := make([][]string, len(w.all)), make([]error, len(w.all))
	var wg sync.WaitGroup
	for i, one := range w.all {
		p := one.current()
		if p == nil {
			continue // it never started, which is told elsewhere
		}
		wg.Go(func() {
			l, err := p.connection.ask(ctx, protocol.Command{Do: protocol.DoCensus}, nil, ctx.Done())
			if ctx.Err() != nil {
				err = fmt.Errorf("%s does not say what its clients have left: %w", one.name(), context.Cause(ctx))
			}
			stacks[i], errs[i] = l.Stacks, errors.Join(err, p.connection.counted(l.Connects))
		})
	}
	wg.Wait()
	left = slices.Concat(stacks...)
	slices.Sort(left)
	return left, errors.Join(errs...)
}

// Lateness is that of all workers together.
func (w *Workers) Lateness() Lateness {
	var all []*lateness
	for _, one := range w.all {
		all = append(all, one.late)
	}
	return sum(all)
}

// slot is the place of a worker: one process after the other.
type slot struct {
	number  int
	command []string
	log     string
	spawner *child.Spawner
	slack   time.Duration
	late    *lateness
	died    func(error) // is called with the error of one that has ended by itself

	mu       sync.Mutex
	process  *workerProcess // the latest
	expected bool           // its end is our doing
	up       chan struct{}  // closed when there is a process that has said hello
}

// workerProcess is one process from its start to its end.
type workerProcess struct {
	*child.Process
	connection *connection
	stdin      *os.File
	gone       chan struct{} // closed when it has ended and everything that it said was read
}

// ended is how the process ended, once it is gone.
func (p *workerProcess) ended() error {
	<-p.Done()
	return p.Err()
}

func newSlot(number int, cfg Config, spawner *child.Spawner) *slot {
	log := filepath.Join(cfg.Logs, fmt.Sprintf("worker-%d.log", number))
	return &slot{number: number, command: cfg.Command, log: log, spawner: spawner, slack: cfg.Slack, late: newLateness(cfg.Slack)}
}

func (w *slot) name() string { return fmt.Sprintf("worker %d", w.number) }

// lastWords shows the end of what the process wrote to its standard error.
func (w *slot) lastWords() string {
	lines := child.LastLines(w.log, 10)
	if strings.TrimSpace(lines) == "" {
		return "it wrote nothing to its standard error"
	}
	return fmt.Sprintf("the end of %s:\n%s", w.log, lines)
}

// helloWithin is what a process gets to say hello, a Java machine too.
const helloWithin = 20 * time.Second

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
	ctx, cancel := context.WithTimeout(ctx, helloWithin)
	defer cancel()
	select {
	case <-p.connection.hello:
		close(up)
		return nil
	case <-p.gone:
		if exit := new(exec.ExitError); errors.As(p.ended(), &exit) && exit.ExitCode() == exitUnavailable {
			return fmt.Errorf("%w: %s", ErrUnavailable, strings.TrimSpace(child.LastLines(w.log, 1)))
		}
		return fmt.Errorf("%s ended before it said hello; %s", w.name(), w.lastWords())
	case <-ctx.Done():
		w.stop()
		return fmt.Errorf("%s did not say hello: %w; %s", w.name(), context.Cause(ctx), w.lastWords())
	}
}

func (w *slot) spawn() (*workerProcess, error) {
	if len(w.command) == 0 {
		return nil, errors.New("no command was given")
	}
	log, err := os.OpenFile(w.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	// Pipes of our own: exec's are closed when the process has ended, and what
	// it said last would be lost.
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
	cmd := exec.Command(w.command[0], w.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, log
	process, err := w.spawner.Start(cmd)
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	p := &workerProcess{Process: process, connection: newConnection(w.name(), stdin, w.late), stdin: stdin, gone: make(chan struct{})}
	// Ends when the process has closed its output, at the latest when it has
	// ended, which end and kill see to.
	go func() {
		defer close(p.gone)
		defer stdout.Close()
		w.attend(p, stdout)
	}()
	return p, nil
}

// drainWithin is how long what a process said last may take to arrive once it has
// ended: a program that it has started may keep its output open.
const drainWithin = 500 * time.Millisecond

// attend listens to a process until it has ended.
func (w *slot) attend(p *workerProcess, stdout *os.File) {
	// Ends with the process, which Kill ends below.
	go func() {
		<-p.Done()
		_ = stdout.SetReadDeadline(time.Now().Add(drainWithin))
	}()
	if w.slack > 0 {
		var asking sync.WaitGroup
		defer asking.Wait()
		asking.Go(func() { p.connection.askWhetherItRuns(w.slack) }) // ends with the connection, below
	}
	misunderstood := p.connection.listen(stdout)
	if misunderstood == nil {
		// Its output has ended: so has it, or else it is of no more use.
		select {
		case <-p.Done():
		case <-time.After(drainWithin):
		}
	}
	p.Kill()
	w.mu.Lock()
	expected := w.expected
	w.mu.Unlock()
	why := misunderstood
	if why == nil && !expected {
		why = fmt.Errorf("%s ended by itself (%v); %s", w.name(), p.Err(), w.lastWords())
	}
	p.connection.close(why)
	_ = p.stdin.Close()
	if why != nil && w.died != nil {
		w.died(why)
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
		return nil // which is told elsewhere
	}
	return err
}

// stop ends the process at once, and returns when all that follows from its end
// is on record.
func (w *slot) stop() {
	w.mu.Lock()
	w.expected = true
	w.up = make(chan struct{})
	p := w.process
	w.mu.Unlock()
	w.late.unasked()
	p.Kill()
	<-p.gone
}

// endWithin is what a process gets to end when its input has.
const endWithin = 2 * time.Second

// end ends the process, in good order if it does what it should.
func (w *slot) end() {
	w.mu.Lock()
	w.expected = true
	p := w.process
	w.mu.Unlock()
	if p == nil {
		return
	}
	_ = p.Continue() // should it be paused
	w.late.unasked()
	_ = p.stdin.Close()
	select {
	case <-p.gone:
	case <-time.After(endWithin):
		p.Kill()
		<-p.gone
	}
}
