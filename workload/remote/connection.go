package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// errWorkerGone is wrapped by the errors of commands to a worker process that has ended.
var errWorkerGone = errors.New("the worker process has ended")

// goneError is errWorkerGone with the reason.
type goneError struct{ why error }

func (e goneError) Error() string   { return e.why.Error() }
func (e goneError) Unwrap() []error { return []error{errWorkerGone, e.why} }

// connection is the conversation between a run and one worker process, from the run's side:
// commands and their answers by number, and events.
type connection struct {
	name   string // of the worker, for messages
	late   *lateness
	in     io.Writer
	within time.Duration   // time that the worker has to answer
	hurry  <-chan struct{} // closed when it has no more than hurryWithin; may be nil

	queued chan struct{} // has a token when there is more to write
	failed chan error    // has the reason why the worker can no longer be used

	hello chan struct{}   // closed when the worker has said hello
	hosts *protocol.Hosts // the worker's own lock; set before hello is closed
	over  chan struct{}   // closed when no more commands are answered

	mu      sync.Mutex
	ending  bool     // it is to end
	ended   error    // the reason; set before over is closed
	queue   [][]byte // commands that are not written yet
	flow    protocol.Flow
	next    int64
	calls   map[int64]*call
	leases  map[int64]*lease
	clients map[int]*Client
	had     []*Client // all of them, by number less one
}

// call is a command under way.
type call struct {
	do     string
	asked  time.Time
	ctx    context.Context
	lease  *lease // the lease that the answer may grant
	answer protocol.Line
	done   chan struct{} // closed when it is answered
}

func newConnection(name string, in io.Writer, late *lateness) *connection {
	return &connection{
		name: name, in: in, late: late, within: protocol.AnswerWithin,
		queued: make(chan struct{}, 1), failed: make(chan error, 1), hello: make(chan struct{}), over: make(chan struct{}),
		calls: make(map[int64]*call), leases: make(map[int64]*lease), clients: make(map[int]*Client),
	}
}

// ask sends a command and waits for its answer. When ctx ends the command is cancelled, and ask
// still waits for its answer: the command may have succeeded. givenUp, if not nil, ends the
// wait without an answer. A worker that does not answer when it must has failed, and so have
// all commands to it.
func (t *connection) ask(ctx context.Context, c protocol.Command, lease *lease, givenUp <-chan struct{}) (protocol.Line, error) {
	select {
	case <-givenUp: // and the answer may come before the run has noticed
		return protocol.Line{}, lock.ErrCrashed
	default:
	}
	k := &call{do: c.Do, asked: time.Now(), ctx: ctx, lease: lease, done: make(chan struct{})}
	t.mu.Lock()
	if t.ended != nil {
		t.mu.Unlock()
		return protocol.Line{}, t.ended
	}
	t.next++
	c.ID = t.next
	t.calls[c.ID] = k
	t.flow.Asked()
	if lease != nil {
		lease.id = c.ID
	}
	t.sendLocked(c)
	t.mu.Unlock()
	due := t.newDue(c)
	defer due.stop()
	if c.AnsweredAtOnce() {
		due.begin(t.within)
	}
	cancelled, hurry := ctx.Done(), t.hurry
	for {
		select {
		case <-k.done:
			return k.answer, failureOf(k.answer, ctx)
		case <-cancelled:
			cancelled = nil
			t.send(protocol.Command{Do: protocol.DoCancel, Of: c.ID, Client: c.Client})
			if c.EndsWhenCancelled() {
				due.begin(t.within)
			}
		case <-hurry:
			hurry = nil
			due.begin(hurryWithin)
		case <-due.now:
			due.look()
		case <-givenUp:
			return protocol.Line{}, lock.ErrCrashed
		case <-t.over:
			return protocol.Line{}, t.ended
		}
	}
}

// fail records that the worker can no longer be used, and the reason; the first reason counts.
// A worker that is to end owes no answer.
func (t *connection) fail(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ending {
		return
	}
	select {
	case t.failed <- why:
	default:
	}
}

// listen reads the lines of the worker until its end, which is no error, or a line that cannot
// be understood.
func (t *connection) listen(out io.Reader) error {
	lines := protocol.Lines(out)
	n := 1
	for ; lines.Scan(); n++ {
		text, now := lines.Bytes(), protocol.Now()
		var l protocol.Line
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		err := d.Decode(&l)
		if err == nil {
			if err = t.received(l, len(text)); err == nil {
				t.late.received(l.At, now)
				continue
			}
		}
		return fmt.Errorf("%s: line %d, %s: %w", t.name, n, quote(l, text), err)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s: line %d is longer than %d bytes", t.name, n, protocol.MaxLine)
	}
	return nil // killed, perhaps
}

// mostQuoted is the longest part of a line that a message shows.
const mostQuoted = 300

// quote shows a line in a message, but no secret.
func quote(l protocol.Line, text []byte) string {
	if l.Password != nil || bytes.Contains(text, []byte("password")) {
		return "(one with a password)"
	}
	text = bytes.TrimRight(text, "\r\n")
	if len(text) > mostQuoted {
		return strconv.Quote(string(text[:mostQuoted])) + "…"
	}
	return strconv.Quote(string(text))
}

// leave records that the worker is to end.
func (t *connection) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ending = true
}

// close ends the connection: no more commands are answered. Callers that wait, and holders of
// leases, learn of it once the clients have been told that their process has died, which puts
// it on record, and told has been called.
func (t *connection) close(why error, told func()) {
	t.mu.Lock()
	t.ended = errWorkerGone
	if why != nil {
		t.ended = goneError{why}
	}
	leases, clients := t.leases, slices.Collect(maps.Values(t.clients))
	t.leases = make(map[int64]*lease)
	t.mu.Unlock()
	for _, c := range clients {
		if c != nil && c.opening.Died != nil {
			c.opening.Died(c)
		}
	}
	told()
	close(t.over)
	for _, l := range leases {
		l.lose()
	}
}

// received handles one line, of some bytes.
func (t *connection) received(l protocol.Line, bytes int) error {
	t.mu.Lock()
	err := t.flow.Said(l, bytes, time.Now())
	t.mu.Unlock()
	if err == nil {
		err = l.Bound()
	}
	switch {
	case err != nil:
		return err
	case l.At <= 0:
		return errors.New("it has no time (at)")
	case l.Event == protocol.SayHello:
		return t.greeted(l)
	case t.hosts == nil:
		return errors.New("the first line must be hello")
	case l.Event == "" && l.ID == 0:
		return errors.New("it is neither an answer (id) nor an event")
	case l.Event == "":
		return t.answered(l)
	}
	switch l.Event {
	case protocol.SayEnqueued, protocol.SayObserved:
		t.mu.Lock()
		k, known := t.calls[l.ID], l.ID > 0 && l.ID <= t.next
		t.mu.Unlock()
		switch {
		case !known:
			return fmt.Errorf("there was no command %d", l.ID)
		case k == nil: // it is over: its events have no meaning any more
		case l.Event == protocol.SayObserved:
			return observed(k.ctx, l.Token)
		default:
			place := lock.Place{Lock: l.Lock, Token: l.Token, Sequence: l.Sequence, Ahead: l.Position}
			if l.Session != "" {
				session, err := sessionNumber(l.Session)
				if err != nil {
					return err
				}
				place.Session = lock.SessionName(session)
			}
			lock.Enqueued(k.ctx, place)
		}
		return nil
	case protocol.SayLost, protocol.SayRevokeRequested:
		return t.toldOfLease(l)
	case protocol.SaySession, protocol.SayPresence, protocol.SaySuspended, protocol.SayResumed:
		return t.toldOfClient(l)
	}
	return fmt.Errorf("unknown event %q", l.Event)
}

func (t *connection) greeted(l protocol.Line) error {
	switch {
	case t.hosts != nil:
		return errors.New("hello again")
	case l.Protocol != protocol.Version:
		return fmt.Errorf("it speaks protocol %d, not %d", l.Protocol, protocol.Version)
	}
	t.hosts = &protocol.Hosts{}
	if l.Hosts != nil {
		t.hosts = l.Hosts
	}
	close(t.hello)
	return nil
}

func (t *connection) answered(l protocol.Line) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.calls[l.ID]
	if k == nil {
		return fmt.Errorf("there is no command %d under way", l.ID)
	}
	delete(t.calls, l.ID)
	if k.lease != nil && l.Error == "" {
		t.leases[l.ID] = k.lease
	}
	k.answer = l
	close(k.done)
	return nil
}

func (t *connection) toldOfLease(l protocol.Line) error {
	t.mu.Lock()
	lease, known := t.leases[l.Lease], l.Lease > 0 && l.Lease <= t.next
	t.mu.Unlock()
	switch {
	case !known:
		return fmt.Errorf("there was no lease %d", l.Lease)
	case lease == nil: // released meanwhile
	case l.Event == protocol.SayLost:
		lease.lose()
	default:
		lease.revoked()
	}
	return nil
}

func (t *connection) toldOfClient(l protocol.Line) error {
	if l.Client == nil {
		return errors.New("it names no client")
	}
	t.mu.Lock()
	c, known := t.clients[*l.Client]
	t.mu.Unlock()
	switch {
	case !known:
		return fmt.Errorf("there is no client %d", *l.Client)
	case c == nil: // it has crashed meanwhile
		return nil
	}
	return c.told(l)
}

// forget drops a lease that no command will name any more.
func (t *connection) forget(id int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.leases, id)
}

// register gives c its number.
func (t *connection) register(c *Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.number = len(t.clients) + 1
	t.clients[c.number] = c
	t.had = append(t.had, c)
}

// drop forgets a client that is gone, with its leases. Nil stays in its place: late events of
// it may come.
func (t *connection) drop(c *Client) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clients[c.number] = nil
	for id, l := range t.leases {
		if l.c == c {
			delete(t.leases, id)
		}
	}
}

// failureOf returns the error in an answer, under the context of its command.
func failureOf(l protocol.Line, ctx context.Context) error {
	if l.Error == "" {
		return nil
	}
	e := workerError{text: l.Error}
	switch l.Why {
	case protocol.WhyNotAcquired:
		e.is = lock.ErrNotAcquired
	case protocol.WhyLost:
		e.is = lock.ErrLost
	case protocol.WhyNotHeld:
		e.is = lock.ErrNotHeld
	case protocol.WhyCancelled:
		e.is = context.Canceled
		if ctx.Err() != nil {
			e.is = ctx.Err()
		}
	}
	return e
}

// workerError is an error of a target in a worker process.
type workerError struct {
	text string
	is   error
}

func (e workerError) Error() string { return e.text }
func (e workerError) Unwrap() error { return e.is }
