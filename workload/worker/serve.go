// Package worker hosts clients of locks in a process of their own, which the faults of a
// run pause and kill. Package remote is the run's side.
package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/inprocess"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// Serve hosts clients of locks for a run in another process. It reads commands from in, line by
// line, and writes their answers to out; docs/worker.md has the protocol. A program whose main
// function calls Serve with the target of a lock can be given to zkverify run --worker-command:
//
//	worker.Serve(ctx, os.Stdin, os.Stdout, myLock{})
//
// A worker with one target names it in its hello, and a run drives that target. A worker with
// several hosts the one that the run asks for by name, as zkverify worker does.
//
// Serve returns nil at the end of in, after every client has ended as if its process had died;
// or an error that quotes a command that it did not understand. The end of ctx ends the
// commands under way, not the wait for in.
func Serve(ctx context.Context, in io.Reader, out io.Writer, targets ...lock.Target) error {
	hello := protocol.Line{Event: protocol.SayHello, Protocol: protocol.Version}
	if len(targets) == 1 {
		t := targets[0]
		hello.Hosts = &protocol.Hosts{Name: t.Name(), Description: t.Description(), Recipes: lock.RecipesOf(t)}
	}
	w := &hostWorker{
		targets: targets, out: out, before: inprocess.Goroutines(),
		clients: make(map[int]*hosted), leases: make(map[int64]*hostedLease), cancels: make(map[int64]context.CancelFunc),
	}
	w.life, w.end = context.WithCancel(ctx)
	w.say(hello)
	err := w.listen(in)
	w.end()
	for _, c := range w.all() {
		w.wg.Go(c.crash)
	}
	w.wg.Wait()
	return err
}

// hostWorker is the state of a worker process.
type hostWorker struct {
	targets []lock.Target
	before  map[string]string // goroutines that are not the targets'
	life    context.Context   // ends when in does
	end     context.CancelFunc
	wg      sync.WaitGroup // owned by Worker: commands, presence and lease watchers

	outMu sync.Mutex // the order of lines is that of their times
	out   io.Writer

	mu      sync.Mutex
	clients map[int]*hosted
	had     []*hosted                    // all that were opened, those that have ended too
	leases  map[int64]*hostedLease       // by the command that acquired them
	cancels map[int64]context.CancelFunc // of commands under way
}

// say writes a line. When its reader has gone, in has ended too.
func (w *hostWorker) say(l protocol.Line) {
	w.outMu.Lock()
	defer w.outMu.Unlock()
	l.At = protocol.Now()
	if b, err := protocol.Encode(l); err == nil {
		_, _ = w.out.Write(b)
	}
}

// listen carries out commands until in ends, each in a goroutine of its own.
func (w *hostWorker) listen(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // the rest is no whole line: the run has died
		}
		if err != nil {
			return err
		}
		// A field that is not known is of a later version, and is ignored.
		var c protocol.Command
		if err := json.Unmarshal(text, &c); err != nil {
			return fmt.Errorf("cannot read the command %q: %w", text, err)
		}
		w.mu.Lock()
		if c.Do == protocol.DoCancel {
			if cancel := w.cancels[c.Of]; cancel != nil {
				cancel() // else it has been answered
			}
			w.mu.Unlock()
			continue
		}
		ctx, cancel := context.WithCancel(lock.WithAttempt(w.life, lock.Attempt{Enqueued: func(p lock.Place) { w.enqueued(c.ID, p) }}))
		w.cancels[c.ID] = cancel
		w.mu.Unlock()
		w.wg.Go(func() {
			answer, after := w.do(ctx, c)
			w.mu.Lock()
			delete(w.cancels, c.ID)
			w.mu.Unlock()
			cancel()
			answer.ID = c.ID
			w.say(answer)
			if after != nil {
				after()
			}
		})
	}
}

// do carries out one command. after is called after its answer.
func (w *hostWorker) do(ctx context.Context, c protocol.Command) (answer protocol.Line, after func()) {
	switch c.Do {
	case protocol.DoOpen:
		return w.open(ctx, c)
	case protocol.DoEcho:
		return protocol.Line{}, nil
	case protocol.DoCensus:
		return protocol.Line{Stacks: inprocess.GoroutinesLeft(w.life, w.before, w.targets), Connects: w.connects()}, nil
	case protocol.DoPromises:
		return w.promises(c), nil
	}
	w.mu.Lock()
	client := w.clients[c.Client]
	w.mu.Unlock()
	if client == nil {
		return failed(fmt.Errorf("client %d is not open", c.Client)), nil
	}
	switch c.Do {
	case protocol.DoCrash:
		client.crash()
		return protocol.Line{}, nil
	case protocol.DoClose:
		return failed(client.close(ctx)), nil
	}
	answer, lease, err := client.do(ctx, c)
	if err != nil {
		return failed(err), nil
	}
	if lease != nil {
		return answer, w.keep(client, c.ID, lease)
	}
	return answer, nil
}

// failed answers with an error, or without one.
func failed(err error) protocol.Line {
	if err == nil {
		return protocol.Line{}
	}
	l := protocol.Line{Error: err.Error()}
	switch {
	case errors.Is(err, lock.ErrNotAcquired):
		l.Why = protocol.WhyNotAcquired
	case errors.Is(err, lock.ErrLost):
		l.Why = protocol.WhyLost
	case errors.Is(err, lock.ErrNotHeld):
		l.Why = protocol.WhyNotHeld
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		l.Why = protocol.WhyCancelled
	}
	return l
}

// hostedLease is a lease, or a member of a double barrier, under the number of
// its acquire.
type hostedLease struct {
	client *hosted
	lease  lock.Lease
	member lock.Member
	done   chan struct{} // closed when it cannot be asked for any more
	once   sync.Once
}

// keep remembers a lease. The function that it returns, to be called after the answer, reports
// the loss of the lease.
func (w *hostWorker) keep(client *hosted, id int64, l *hostedLease) (after func()) {
	l.client, l.done = client, make(chan struct{})
	w.mu.Lock()
	w.leases[id] = l
	w.mu.Unlock()
	if l.lease == nil || l.lease.Lost() == nil {
		return nil
	}
	return func() {
		// Ends with the lease.
		w.wg.Go(func() {
			select {
			case <-l.lease.Lost():
				w.say(protocol.Line{Event: protocol.SayLost, Lease: id})
			case <-l.done:
			}
		})
	}
}

func (w *hostWorker) lease(id int64) (*hostedLease, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.leases[id]; l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("there is no lease %d", id)
}

// forget drops the leases for which gone reports true.
func (w *hostWorker) forget(gone func(id int64, l *hostedLease) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, l := range w.leases {
		if gone(id, l) {
			l.once.Do(func() { close(l.done) })
			delete(w.leases, id)
		}
	}
}

// connects returns, by client number, how often each client has tried to connect, including
// those that have ended.
func (w *hostWorker) connects() (all []histories.Connects) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.had {
		connected := h.wire.Connects()
		connected.Client = h.number
		connected.Repeats, connected.RepeatsAgo = 0, 0 // not all that the application does is known here
		all = append(all, connected)
	}
	return all
}

func (w *hostWorker) all() []*hosted {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*hosted
	for _, c := range w.clients {
		all = append(all, c)
	}
	return all
}

// hosted is one client in a worker process.
type hosted struct {
	w      *hostWorker
	number int
	wire   *inprocess.Wire
	target lock.Client
	absent context.CancelFunc // ends the presence goroutine
}

// open starts a client.
func (w *hostWorker) open(ctx context.Context, c protocol.Command) (protocol.Line, func()) {
	e := c.Env
	if e == nil {
		return failed(errors.New("open without env")), nil
	}
	i := slices.IndexFunc(w.targets, func(t lock.Target) bool { return t.Name() == e.Target })
	if i < 0 {
		return failed(fmt.Errorf("this worker does not host the target %q; it hosts %s", e.Target, namesOf(w.targets))), nil
	}
	w.mu.Lock()
	_, there := w.clients[c.Client]
	w.mu.Unlock()
	if there {
		return failed(fmt.Errorf("client %d is open already", c.Client)), nil
	}
	ids, servers := make(map[string]int), []string{}
	for _, s := range e.Servers {
		ids[s.Addr], servers = s.ID, append(servers, s.Addr)
	}
	timeout := time.Duration(e.Timeout) * time.Millisecond
	h := &hosted{w: w, number: c.Client, wire: inprocess.NewWire(ids, new(net.Dialer), timeout, 1)}
	w.mu.Lock()
	w.had = append(w.had, h)
	w.mu.Unlock()
	h.wire.Report = h.sessionChanged
	target, err := w.targets[i].Open(ctx, lock.Env{
		Servers: servers, Dial: h.wire.Dial, SessionTimeout: timeout, TickTime: time.Duration(e.Tick) * time.Millisecond,
		Root: e.Root, Auth: e.Auth(), Locks: e.Locks, Enqueued: lock.Enqueued, Suspended: h.suspended,
		Told: func(lock.Notification) {}, // no run with workers asks for it
	})
	if err != nil {
		h.wire.Tear() // after this no connection that Open has left can keep a session
		return failed(err), nil
	}
	h.target = target
	present, absent := context.WithCancel(w.life)
	h.absent = absent
	w.mu.Lock()
	w.clients[c.Client] = h
	w.mu.Unlock()
	w.wg.Go(func() { inprocess.KeepPresence(present, h.wire, target, e.Presence, e.Auth().ACL(), h.announced) })
	return protocol.Line{Offers: lock.Offered(target)}, nil
}

// promises answers with the promises of the worker's only target.
func (w *hostWorker) promises(c protocol.Command) protocol.Line {
	if c.Env == nil || len(w.targets) != 1 {
		return failed(errors.New("promises are those of a worker with one target, and need env"))
	}
	p := w.targets[0].Promises(lock.Settings{
		SessionTimeout: time.Duration(c.Env.Timeout) * time.Millisecond, TickTime: time.Duration(c.Env.Tick) * time.Millisecond,
	})
	return protocol.Line{Promises: &p}
}

func namesOf(targets []lock.Target) string {
	var names []string
	for _, t := range targets {
		names = append(names, t.Name())
	}
	return strings.Join(names, ", ")
}

func (h *hosted) sessionChanged(session int64, password []byte, granted time.Duration, server int) {
	h.w.say(protocol.Line{
		Event: protocol.SaySession, Client: &h.number, Session: lock.SessionName(session), Password: password, Timeout: granted.Milliseconds(), Server: server,
	})
}

func (h *hosted) announced(session, czxid int64) {
	h.w.say(protocol.Line{Event: protocol.SayPresence, Client: &h.number, Session: lock.SessionName(session), Czxid: czxid})
}

func (h *hosted) suspended(token histories.Token, yes bool) {
	event := protocol.SayResumed
	if yes {
		event = protocol.SaySuspended
	}
	h.w.say(protocol.Line{Event: event, Client: &h.number, Token: token})
}

// enqueued reports the place of a command's acquire in a queue.
func (w *hostWorker) enqueued(id int64, p lock.Place) {
	w.say(protocol.Line{Event: protocol.SayEnqueued, ID: id, Lock: p.Lock, Token: p.Token, Sequence: p.Sequence, Position: p.Ahead, Session: p.Session})
}

// leave forgets the client and its leases. It reports whether it was there.
func (h *hosted) leave() bool {
	h.w.mu.Lock()
	there := h.w.clients[h.number] == h
	if there {
		delete(h.w.clients, h.number)
	}
	h.w.mu.Unlock()
	h.absent()
	h.w.forget(func(_ int64, l *hostedLease) bool { return l.client == h })
	return there
}

// crash ends the client as the death of its process would: its network goes first.
func (h *hosted) crash() {
	if h.leave() {
		h.wire.Tear()
		h.target.Crash()
	}
}

func (h *hosted) close(ctx context.Context) error {
	if !h.leave() {
		return nil
	}
	err := h.target.Close(ctx)
	h.wire.Tear()
	return err
}
