package workload

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Worker hosts clients of locks for a run in another process: it carries out
// what it is told on in, line by line, and says on out what becomes of it. It
// is what zkverify worker runs; docs/worker.md has the protocol. The targets
// are those that a run may ask for: [Targets] if none are given.
//
// It returns nil when in has come to its end, after every client has ended
// as by its death; else an error that says what it did not understand.
func Worker(ctx context.Context, in io.Reader, out io.Writer, targets ...Target) error {
	if len(targets) == 0 {
		targets = Targets()
	}
	w := &hostWorker{
		targets: targets, out: out, before: stacks(),
		clients: make(map[int]*hosted), leases: make(map[int64]*hostedLease), cancels: make(map[int64]context.CancelFunc),
	}
	w.life, w.end = context.WithCancel(ctx)
	w.say(line{Event: sayHello, Protocol: protocolVersion})
	err := w.listen(in)
	w.end()
	for _, c := range w.all() {
		w.wg.Go(c.crash)
	}
	w.wg.Wait()
	return err
}

// hostWorker is a worker process from the inside.
type hostWorker struct {
	targets []Target
	before  map[string]string // goroutines that are not the targets'
	life    context.Context   // ends when in does
	end     context.CancelFunc
	wg      sync.WaitGroup // owned by Worker: commands, presence and lease watchers

	outMu sync.Mutex // the order of lines is that of their times
	out   io.Writer

	mu      sync.Mutex
	clients map[int]*hosted
	leases  map[int64]*hostedLease       // by the command that acquired them
	cancels map[int64]context.CancelFunc // of commands under way
}

// say writes a line. When nobody reads any more in has ended too.
func (w *hostWorker) say(l line) {
	w.outMu.Lock()
	defer w.outMu.Unlock()
	l.At = monotonic()
	if b, err := encode(l); err == nil {
		_, _ = w.out.Write(b)
	}
}

// listen carries out commands until in ends, each in a goroutine of its own.
func (w *hostWorker) listen(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // what is left is no whole line: the run has died
		}
		if err != nil {
			return err
		}
		var c command
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			return fmt.Errorf("cannot read the command %q: %w", text, err)
		}
		w.mu.Lock()
		if c.Do == doCancel {
			if cancel := w.cancels[c.Of]; cancel != nil {
				cancel() // else it has been answered
			}
			w.mu.Unlock()
			continue
		}
		ctx, cancel := context.WithCancel(context.WithValue(w.life, attemptKey{}, c.ID))
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

// do carries out one command. after is what follows its answer.
func (w *hostWorker) do(ctx context.Context, c command) (answer line, after func()) {
	switch c.Do {
	case doOpen:
		return w.open(ctx, c)
	case doEcho:
		return line{}, nil
	case doCensus:
		return line{Stacks: leftRunning(w.life, w.before, w.targets)}, nil
	}
	w.mu.Lock()
	client := w.clients[c.Client]
	w.mu.Unlock()
	if client == nil {
		return failed(fmt.Errorf("client %d is not open", c.Client)), nil
	}
	switch c.Do {
	case doCrash:
		client.crash()
		return line{}, nil
	case doClose:
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
func failed(err error) line {
	if err == nil {
		return line{}
	}
	l := line{Error: err.Error()}
	switch {
	case errors.Is(err, ErrNotAcquired):
		l.Why = whyNotAcquired
	case errors.Is(err, ErrLost):
		l.Why = whyLost
	case errors.Is(err, ErrNotHeld):
		l.Why = whyNotHeld
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		l.Why = whyCancelled
	}
	return l
}

// hostedLease is a lease, or a member of a double barrier, under the number of
// its acquire.
type hostedLease struct {
	client *hosted
	lease  Lease
	member Member
	done   chan struct{} // closed when nobody may ask for it any more
	once   sync.Once
}

// keep remembers a lease, and says when it is lost, after its answer.
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
				w.say(line{Event: sayLost, Lease: id})
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

// forget drops the leases that go says.
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
	wire   *wire
	target Client
	absent context.CancelFunc // ends the presence goroutine
}

// open starts a client.
func (w *hostWorker) open(ctx context.Context, c command) (line, func()) {
	e := c.Env
	if e == nil {
		return failed(errors.New("open without env")), nil
	}
	i := slices.IndexFunc(w.targets, func(t Target) bool { return t.Name() == e.Target })
	if i < 0 {
		return failed(fmt.Errorf("unknown target %q", e.Target)), nil
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
	h := &hosted{w: w, number: c.Client, wire: newWire(ids, timeout)}
	h.wire.report = h.sessionChanged
	target, err := w.targets[i].Open(ctx, Env{
		Servers: servers, Dial: h.wire.dial, SessionTimeout: timeout, TickTime: time.Duration(e.Tick) * time.Millisecond,
		Root: e.Root, Auth: e.auth(), Locks: e.Locks, Enqueued: w.enqueued, Suspended: h.suspended,
	})
	if err != nil {
		h.wire.tear() // whatever Open has left behind cannot hold a session
		return failed(err), nil
	}
	h.target = target
	present, absent := context.WithCancel(w.life)
	h.absent = absent
	w.mu.Lock()
	w.clients[c.Client] = h
	w.mu.Unlock()
	w.wg.Go(func() { keepPresence(present, h.wire, target, e.Presence, e.auth().ACL(), h.announced) })
	return line{Offers: offersOf(target)}, nil
}

func (h *hosted) sessionChanged(session int64, password []byte, granted time.Duration, server int) {
	h.w.say(line{
		Event: saySession, Client: &h.number, Session: sessionName(session), Password: password, Timeout: granted.Milliseconds(), Server: server,
	})
}

func (h *hosted) announced(session, czxid int64) {
	h.w.say(line{Event: sayPresence, Client: &h.number, Session: sessionName(session), Czxid: czxid})
}

func (h *hosted) suspended(token histories.Token, yes bool) {
	event := sayResumed
	if yes {
		event = saySuspended
	}
	h.w.say(line{Event: event, Client: &h.number, Token: token})
}

// enqueued is Env.Enqueued: the context of every command has its number.
func (w *hostWorker) enqueued(ctx context.Context, p Place) {
	if id, ok := ctx.Value(attemptKey{}).(int64); ok {
		w.say(line{Event: sayEnqueued, ID: id, Lock: p.Lock, Token: p.Token, Sequence: p.Sequence, Position: p.Ahead})
	}
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

// crash ends the client as its death would: its network goes first.
func (h *hosted) crash() {
	if h.leave() {
		h.wire.tear()
		h.target.Crash()
	}
}

func (h *hosted) close(ctx context.Context) error {
	if !h.leave() {
		return nil
	}
	err := h.target.Close(ctx)
	h.wire.tear()
	return err
}
