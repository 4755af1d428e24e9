package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// Workers says in which processes the clients of a run live. The zero value
// means in this one.
type Workers struct {
	N int // how many; client i lives in process i%N+1
	// Command starts one: a program that runs [Worker], or another that speaks
	// its protocol. Required if there are any.
	Command []string
	// Logs is the folder for what they write to their standard error:
	// worker-1.log and so on. Required if there are any.
	Logs string
}

// Describe starts a worker process and returns the target that it says it has
// brought along, a lock in another language perhaps; nil if it hosts those of a
// run's choice, as zkverify worker does. What the target promises may depend on
// the settings of the run.
func Describe(ctx context.Context, w Workers, s lock.Settings) (lock.Target, error) {
	spawner := child.NewSpawner()
	defer spawner.Close()
	one := &worker{number: 1, command: w.Command, log: filepath.Join(w.Logs, "worker-1.log"), spawner: spawner, late: newLateness()}
	if err := one.start(ctx); err != nil {
		return nil, err
	}
	defer one.end()
	h := one.current().talk.hosts
	if h.Name == "" && len(h.Recipes) == 0 {
		return nil, nil
	}
	if h.Name == "" || len(h.Recipes) == 0 || slices.ContainsFunc(h.Recipes, func(r histories.Recipe) bool { return !slices.Contains(histories.Recipes(), r) }) {
		return nil, fmt.Errorf("%s says that it hosts %q with recipes %q", one.name(), h.Name, h.Recipes)
	}
	if h.Promises == nil {
		promises, err := one.promises(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("%s does not say what %s promises, in its hello or when asked: %w", one.name(), h.Name, err)
		}
		h.Promises = promises
	}
	return foreign{h}, nil
}

// promises asks the process what its lock promises.
func (w *worker) promises(ctx context.Context, s lock.Settings) (*histories.Promises, error) {
	ctx, cancel := context.WithTimeout(ctx, helloWithin)
	defer cancel()
	env := protocol.Where{Timeout: s.SessionTimeout.Milliseconds(), Tick: s.TickTime.Milliseconds()}
	l, err := w.current().talk.ask(ctx, protocol.Command{Do: protocol.DoPromises, Env: &env}, nil, ctx.Done())
	if err == nil && l.Promises == nil {
		err = errors.New("the answer has no promises")
	}
	return l.Promises, err
}

// foreign is a target that a worker has brought along.
type foreign struct{ says *protocol.Hosts }

func (f foreign) Name() string                { return f.says.Name }
func (f foreign) Description() string         { return f.says.Description }
func (f foreign) Recipe() string              { return string(f.says.Recipes[0]) }
func (f foreign) Recipes() []histories.Recipe { return f.says.Recipes }

// Promises are those of the worker, with the bounds of package recipes where it
// names none.
func (f foreign) Promises(s lock.Settings) histories.Promises {
	p := *f.says.Promises
	setDefault(&p.LossBound, s.LossBound())
	setDefault(&p.RevokeBound, s.RevokeBound())
	return p
}

// Open is an error: it lives in its worker.
func (f foreign) Open(context.Context, lock.Env) (lock.Client, error) {
	return nil, fmt.Errorf("target %s lives in worker processes", f.Name())
}

// workers are the worker processes of a run.
type workers struct {
	spawner *child.Spawner
	all     []*worker
}

// startWorkers starts them, and returns when each has said hello.
func (r *run) startWorkers(ctx context.Context) error {
	w := &workers{spawner: child.NewSpawner()}
	r.workers = w
	var g errgroup.Group
	for i := range r.cfg.Workers.N {
		one := &worker{
			number: i + 1, command: r.cfg.Workers.Command, spawner: w.spawner, late: newLateness(),
			log: filepath.Join(r.cfg.Workers.Logs, fmt.Sprintf("worker-%d.log", i+1)),
		}
		one.died = func(err error) { r.end(err) }
		one.bury = func(t *talk) { r.buryAll(t) }
		w.all = append(w.all, one)
		g.Go(func() error { return one.start(ctx) })
	}
	return g.Wait()
}

// buryAll puts on record that the clients in a process have crashed with it.
func (r *run) buryAll(t *talk) {
	for _, c := range r.clients {
		if remote, ok := c.client().(*remoteClient); ok && remote.talk == t {
			c.bury(remote)
		}
	}
}

func (w *workers) of(client int) *worker { return w.all[client%len(w.all)] }

// endWorkers ends the processes, after they have been asked what their clients,
// which are closed, have left running.
func (r *run) endWorkers() {
	if r.life.Err() == nil && len(r.workers.all) == r.cfg.Workers.N {
		ctx, cancel := context.WithTimeout(r.life, settleStops+closeWithin)
		defer cancel()
		var err error
		if r.stacks, err = r.workers.goroutines(ctx); err != nil {
			r.warn("not everything could be counted in the worker processes: %v", err)
		}
	}
	r.workers.end()
}

// end ends all processes, and returns when they are gone.
func (w *workers) end() {
	var wg sync.WaitGroup
	for _, one := range w.all {
		wg.Go(one.end)
	}
	wg.Wait()
	w.spawner.Close()
}

// goroutines asks each for what its closed clients have left running.
func (w *workers) goroutines(ctx context.Context) (left []string, err error) {
	for _, one := range w.all {
		p := one.current()
		if p == nil {
			continue // it never started, which is told elsewhere
		}
		l, askErr := p.talk.ask(ctx, protocol.Command{Do: protocol.DoCensus}, nil, ctx.Done())
		err = errors.Join(err, askErr, p.talk.counted(l.Connects))
		left = append(left, l.Stacks...)
	}
	slices.Sort(left)
	return left, err
}

func (w *workers) lateness() Lateness {
	var all []*lateness
	for _, one := range w.all {
		all = append(all, one.late)
	}
	return sum(all)
}

// judgeLateness puts on record how late words of losses may have been, and warns
// if it is too late to blame anybody.
func (r *run) judgeLateness(c *histories.Census) {
	if r.workers == nil {
		return
	}
	late := r.workers.lateness()
	c.Late = late.Worst
	if slack := histories.Slack(r.cfg.SessionTimeout); late.Worst > slack {
		r.warn("a line of a worker was under way for %v, and no more than %v is allowed for: this machine is too busy for a violation to be held against the lock", late.Worst.Round(time.Millisecond), slack)
	}
}

// worker is one worker process after the other.
type worker struct {
	number  int
	command []string
	log     string
	spawner *child.Spawner
	late    *lateness
	bury    func(*talk) // is called when a process has ended, before anybody else knows
	died    func(error) // is called with the error of one that has ended by itself

	mu       sync.Mutex
	process  *workerProcess // the latest
	expected bool           // its end is our doing
	up       chan struct{}  // closed when there is a process that has said hello
}

// workerProcess is one process from its start to its end.
type workerProcess struct {
	*child.Process
	talk  *talk
	stdin *os.File
	gone  chan struct{} // closed when it has ended and everything that it said was read
}

func (w *worker) name() string { return fmt.Sprintf("worker %d", w.number) }

// helloWithin is what a process gets to say hello, a Java machine too.
const helloWithin = 20 * time.Second

// start starts a process, and returns when it has said hello.
func (w *worker) start(ctx context.Context) (err error) {
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
	case <-p.talk.hello:
		close(up)
		return nil
	case <-p.gone:
		return fmt.Errorf("%s ended before it said hello; the end of %s:\n%s", w.name(), w.log, child.LastLines(w.log, 10))
	case <-ctx.Done():
		w.stop()
		return fmt.Errorf("%s did not say hello: %w; the end of %s:\n%s", w.name(), context.Cause(ctx), w.log, child.LastLines(w.log, 10))
	}
}

func (w *worker) spawn() (*workerProcess, error) {
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
	p := &workerProcess{Process: process, talk: newTalk(w.name(), stdin, w.late), stdin: stdin, gone: make(chan struct{})}
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
func (w *worker) attend(p *workerProcess, stdout *os.File) {
	// Ends with the process, which Kill ends below.
	go func() {
		<-p.Done()
		_ = stdout.SetReadDeadline(time.Now().Add(drainWithin))
	}()
	misunderstood := p.talk.listen(stdout)
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
		why = fmt.Errorf("%s ended by itself (%v); the end of %s:\n%s", w.name(), p.Err(), w.log, child.LastLines(w.log, 10))
	}
	p.talk.close(why, func() {
		if w.bury != nil {
			w.bury(p.talk)
		}
	})
	_ = p.stdin.Close()
	if why != nil && w.died != nil {
		w.died(why)
	}
}

func (w *worker) current() *workerProcess {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.process
}

// open starts a client in the process, as soon as there is one.
func (w *worker) open(ctx context.Context, c *client) (*remoteClient, error) {
	w.mu.Lock()
	up := w.up
	w.mu.Unlock()
	select {
	case <-up:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	r := c.run
	e := protocol.Where{
		Target: r.cfg.Target.Name(), Timeout: r.cfg.SessionTimeout.Milliseconds(), Tick: r.cfg.Ensemble.TickTime().Milliseconds(),
		Root: r.lockRoot(), Presence: r.observer.presence(), Locks: r.locks,
		Scheme: r.cfg.Auth.Scheme(), Secret: r.cfg.Auth.Secret(),
	}
	for _, addr := range c.home.servers {
		e.Servers = append(e.Servers, protocol.Server{ID: c.home.ids[addr], Addr: addr})
	}
	return openRemote(ctx, w.current().talk, e, r.observer.announced, c.suspended)
}

// pause stops the process, and resume lets it go on.
func (w *worker) pause(ctx context.Context) error {
	w.late.pause()
	return w.current().Stop(ctx)
}

func (w *worker) resume() error {
	defer w.late.resumed()
	err := w.current().Continue()
	if errors.Is(err, child.ErrEnded) {
		return nil // which is told elsewhere
	}
	return err
}

// stop ends the process at once, and returns when all that follows from its end
// is on record.
func (w *worker) stop() {
	w.mu.Lock()
	w.expected = true
	w.up = make(chan struct{})
	p := w.process
	w.mu.Unlock()
	p.Kill()
	<-p.gone
}

// endWithin is what a process gets to end when its input has.
const endWithin = 2 * time.Second

// end ends the process, in good order if it does what it should.
func (w *worker) end() {
	w.mu.Lock()
	w.expected = true
	p := w.process
	w.mu.Unlock()
	if p == nil {
		return
	}
	_ = p.Continue() // should it be paused
	_ = p.stdin.Close()
	select {
	case <-p.gone:
	case <-time.After(endWithin):
		p.Kill()
		<-p.gone
	}
}
