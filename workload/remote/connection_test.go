package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/worker"
)

// inMemory is a lock in the memory of its process, which every client shares.
type inMemory struct {
	turn chan struct{} // has a token when it is free

	mu     sync.Mutex
	token  int64
	holder *memoryLease
}

func newMemory() *inMemory {
	m := &inMemory{turn: make(chan struct{}, 1)}
	m.turn <- struct{}{}
	return m
}

func (*inMemory) Name() string                              { return "memory" }
func (*inMemory) Description() string                       { return "" }
func (*inMemory) Recipe() string                            { return "mutex" }
func (*inMemory) Promises(lock.Settings) histories.Promises { return histories.Promises{} }
func (m *inMemory) Open(_ context.Context, env lock.Env) (lock.Client, error) {
	return &memoryClient{m, env}, nil
}

type memoryClient struct {
	*inMemory
	env lock.Env
}

func (*memoryClient) Conn() *zk.Conn                  { return nil }
func (c *memoryClient) Crash()                        { c.lose() }
func (*memoryClient) Close(context.Context) error     { return nil }
func (c *memoryClient) Revocable() lock.RevokerLocker { return c }

func (c *memoryClient) Holder(context.Context, string) (histories.Token, string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holder == nil {
		return histories.Token{}, "", lock.ErrNotHeld
	}
	return c.holder.token, "the node", nil
}

func (c *memoryClient) Revoke(_ context.Context, node string) error {
	c.mu.Lock()
	h := c.holder
	c.mu.Unlock()
	if node != "the node" || h == nil || h.revoked == nil {
		return errors.New("nobody listens")
	}
	h.revoked()
	return nil
}

// lose takes the lock away from whoever holds it.
func (m *inMemory) lose() {
	m.mu.Lock()
	h := m.holder
	m.mu.Unlock()
	if h != nil {
		h.end()
	}
}

func (c *memoryClient) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	c.env.Enqueued(ctx, lock.Place{Lock: name, Sequence: 7})
	select {
	case <-c.turn:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token++
	c.holder = &memoryLease{m: c.inMemory, token: histories.Token{Zxid: c.token}, lost: make(chan struct{})}
	return c.holder, nil
}

func (c *memoryClient) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	c.mu.Lock()
	held := c.holder != nil
	c.mu.Unlock()
	if held {
		return nil, fmt.Errorf("%w: somebody has it", lock.ErrNotAcquired)
	}
	return c.Acquire(ctx, name)
}

type memoryLease struct {
	m       *inMemory
	token   histories.Token
	lost    chan struct{}
	once    sync.Once
	revoked func()
}

func (l *memoryLease) Token() histories.Token { return l.token }
func (l *memoryLease) Lost() <-chan struct{}  { return l.lost }
func (l *memoryLease) OnRevoke(f func())      { l.revoked = f }

func (l *memoryLease) Valid() bool {
	select {
	case <-l.lost:
		return false
	default:
		return true
	}
}

func (l *memoryLease) end() {
	l.once.Do(func() {
		close(l.lost)
		l.m.mu.Lock()
		l.m.holder = nil
		l.m.mu.Unlock()
		l.m.turn <- struct{}{}
	})
}

func (l *memoryLease) Release(context.Context) error {
	if !l.Valid() {
		return lock.ErrLost
	}
	l.end()
	return nil
}

// hostedMemory is a worker that hosts a lock in memory, in this process, and the connection with
// it. die ends it as a kill does: in the middle of everything.
func hostedMemory(t *testing.T) (connection *connection, m *inMemory, die func()) {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	m = newMemory()
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	connection = newConnection("worker 1", stdin, newLateness())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := worker.Serve(context.Background(), in, out, m); err != nil {
			t.Error(err)
		}
		_ = out.Close()
	})
	wg.Go(func() {
		if err := connection.listen(stdout); err != nil {
			t.Error(err)
		}
		connection.close(nil)
		_ = stdout.Close()
	})
	die = func() {
		_ = stdout.Close()
		_ = stdin.Close()
	}
	t.Cleanup(func() {
		die()
		wg.Wait()
		goleak.VerifyNone(t, leaks)
	})
	<-connection.hello
	return connection, m, die
}

func openMemory(t *testing.T, connection *connection) *Client {
	t.Helper()
	c, err := openClient(t.Context(), connection, Opening{Target: "memory", Env: lock.Env{SessionTimeout: 2 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTwoClientsInOneWorkerTakeTurns(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	a, b := openMemory(t, connection), openMemory(t, connection)
	first, err := a.Acquire(t.Context(), "lock-0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.TryAcquire(t.Context(), "lock-0"); !errors.Is(err, lock.ErrNotAcquired) || !strings.Contains(err.Error(), "somebody has it") {
		t.Errorf("a try while another holds: %v; want ErrNotAcquired in the target's words", err)
	}
	got := make(chan lock.Lease)
	go func() {
		l, _ := b.Acquire(context.Background(), "lock-0")
		got <- l
	}()
	if !first.Valid() {
		t.Error("the lease of the first is not valid")
	}
	if err := first.Release(t.Context()); err != nil {
		t.Error(err)
	}
	second := <-got
	if second == nil || second.Token().Zxid <= first.Token().Zxid {
		t.Errorf("the second got %v after %v", second, first.Token())
	}
	if err := first.Release(t.Context()); err == nil {
		t.Error("a lease that was given back is there to be given back again")
	}
	if err := second.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAWaitInAWorkerEndsWithItsContextAndLeavesNothing(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	a, b := openMemory(t, connection), openMemory(t, connection)
	held, err := a.Acquire(t.Context(), "lock-0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Acquire(ctx, "lock-0"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait with a deadline: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := b.Acquire(ctx, "lock-0"); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was cancelled: %v", err)
	}
	if err := held.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if l, err := b.TryAcquire(t.Context(), "lock-0"); err != nil {
		t.Errorf("after the waits were over: %v", err)
	} else if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestALossInAWorkerIsTold(t *testing.T) {
	connection, m, _ := hostedMemory(t)
	c := openMemory(t, connection)
	l, err := c.Acquire(t.Context(), "lock-0")
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.Lost():
		t.Error("lost at once")
	default:
	}
	m.lose()
	<-l.Lost()
	if l.Valid() {
		t.Error("a lost lease is valid")
	}
	if err := l.Release(t.Context()); !errors.Is(err, lock.ErrLost) {
		t.Errorf("its release: %v, want ErrLost", err)
	}
}

func TestAHolderInAWorkerHearsOfRequests(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	a, b := openMemory(t, connection), openMemory(t, connection)
	if _, _, err := b.Revocable().Holder(t.Context(), "revocation-0"); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("the holder of a free lock: %v", err)
	}
	l, err := a.Revocable().Acquire(t.Context(), "revocation-0")
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan struct{})
	l.(lock.RevocableLease).OnRevoke(func() { close(heard) })
	token, node, err := b.Revocable().Holder(t.Context(), "revocation-0")
	if err != nil || token != l.Token() {
		t.Fatalf("the holder is %v, %v", token, err)
	}
	if err := b.Revocable().Revoke(t.Context(), node); err != nil {
		t.Error(err)
	}
	<-heard
}

// said feeds a worker with lines and returns what it says to them.
func said(t *testing.T, lines string, targets ...lock.Target) (said []protocol.Line) {
	t.Helper()
	var out strings.Builder
	if err := worker.Serve(t.Context(), strings.NewReader(lines), &out, targets...); err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(out.String()) {
		var l protocol.Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		said = append(said, l)
	}
	return said
}

// slowToTell promises what depends on the settings.
type slowToTell struct{ *inMemory }

func (slowToTell) Promises(s lock.Settings) histories.Promises {
	return histories.Promises{TellsLoss: true, LossBound: 3*s.SessionTimeout + s.TickTime}
}

func TestAWorkerWithOneTargetSaysWhichAndWhatItPromises(t *testing.T) {
	got := said(t, `{"id":1,"do":"promises","client":0,"env":{"session_timeout":2000,"tick":200}}`+"\n", slowToTell{newMemory()})
	hosts := got[0].Hosts
	if hosts == nil || hosts.Name != "memory" || !slices.Equal(hosts.Recipes, []histories.Recipe{histories.Mutex}) || hosts.Promises != nil {
		t.Errorf("its hello hosts %+v; want the one target, whose promises are to be asked for", hosts)
	}
	if p := got[1].Promises; p == nil || p.LossBound != 6200*time.Millisecond || !p.TellsLoss {
		t.Errorf("it promises %+v; want what its target does under these settings", p)
	}
	if got := said(t, `{"id":1,"do":"promises","client":0,"env":{}}`+"\n"); got[0].Hosts != nil || got[1].Error == "" {
		t.Errorf("a worker with all targets says %+v; want a hello without one, and an error", got)
	}
}

func TestAWorkerLeavesFieldsAloneThatItDoesNotKnow(t *testing.T) {
	got := said(t, `{"id":1,"do":"echo","client":0,"of a later version":{"x":[1]}}`+"\n", newMemory())
	if len(got) != 2 || got[1].ID != 1 || got[1].Error != "" {
		t.Errorf("it says %+v", got)
	}
}

func TestAWorkerNamesTheTargetsThatItHosts(t *testing.T) {
	got := said(t, `{"id":1,"do":"open","client":1,"env":{"target":"recipes"}}`+"\n", newMemory())
	if want := `this worker does not host the target "recipes"; it hosts memory`; got[1].Error != want {
		t.Errorf("it says %q, want %q", got[1].Error, want)
	}
}

func TestWhatATargetLacksIsAnErrorNotTheWorkersEnd(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	c := openMemory(t, connection)
	if !c.Offers(histories.Mutex) || !c.Offers(histories.Revocation) || c.Offers(histories.Barrier) {
		t.Errorf("it offers %v", c.has)
	}
	for what, do := range map[string]func() error{
		"barrier":        func() error { return c.SetBarrier(t.Context(), "barrier-0") },
		"double barrier": func() error { _, err := c.EnterBarrier(t.Context(), "doublebarrier-0"); return err },
		"semaphore":      func() error { _, err := c.Semaphore().AcquireN(t.Context(), "semaphore-0", 2); return err },
		"multi-lock":     func() error { _, err := c.AcquireAll(t.Context(), []string{"multilock-0"}); return err },
		"size":           func() error { return c.SharedSemaphore().SetSize(t.Context(), "sharedsemaphore-0", 2) },
		"nonreentrant":   func() error { _, err := c.NonReentrant().Acquire(t.Context(), "nonreentrant-0"); return err },
	} {
		if err := do(); err == nil || errors.Is(err, errWorkerGone) || !strings.Contains(err.Error(), "offers no") {
			t.Errorf("%s: %v", what, err)
		}
	}
	held, err := c.TryAcquire(t.Context(), "lock-0")
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []protocol.Command{{Do: "dance", Client: c.number}, {Do: "acquire", Client: 99}, {Do: "valid", Client: c.number, Lease: 99}, {Do: protocol.DoSet, Client: c.number, Lease: held.(*lease).id, Node: "/n"}, {Do: protocol.DoOpen, Env: &protocol.Where{Target: "other"}}, {Do: protocol.DoOpen}} {
		if _, err := connection.ask(t.Context(), what, nil, nil); err == nil || errors.Is(err, errWorkerGone) {
			t.Errorf("%+v: %v", what, err)
		}
	}
	if !c.Awake() {
		t.Error("it does not answer any more")
	}
}

func TestACrashedClientIsForgottenAndAnotherMayOpen(t *testing.T) {
	connection, _, _ := hostedMemory(t)
	c := openMemory(t, connection)
	if _, err := c.Acquire(t.Context(), "lock-0"); err != nil {
		t.Fatal(err)
	}
	c.Tear()
	if _, err := c.TryAcquire(t.Context(), "lock-0"); !errors.Is(err, lock.ErrCrashed) {
		t.Errorf("a crashed client's try: %v", err)
	}
	c.Crash()
	if len(connection.leases) != 0 {
		t.Errorf("leases are remembered: %v", connection.leases)
	}
	if l, err := openMemory(t, connection).TryAcquire(t.Context(), "lock-0"); err != nil {
		t.Error("its death freed nothing:", err)
	} else if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheDeathOfAWorkerEndsEveryCall(t *testing.T) {
	for stage, do := range map[string]func(c *Client, held lock.Lease) error{
		"while an acquire waits": func(c *Client, _ lock.Lease) error {
			_, err := c.Acquire(context.Background(), "lock-0")
			return err
		},
		"before a release": func(_ *Client, held lock.Lease) error { return held.Release(context.Background()) },
		"before its lease is asked": func(_ *Client, held lock.Lease) error {
			if held.Valid() {
				return nil
			}
			return errWorkerGone
		},
		"before a client opens": func(c *Client, _ lock.Lease) error {
			_, err := openClient(context.Background(), c.connection, Opening{Target: "memory"})
			return err
		},
		"before its good-bye": func(c *Client, _ lock.Lease) error {
			if err := c.Close(context.Background()); err != nil {
				return err
			}
			return errWorkerGone // there is nobody to say good-bye to, which is fine
		},
	} {
		t.Run(stage, func(t *testing.T) {
			connection, _, die := hostedMemory(t)
			c := openMemory(t, connection)
			held, err := c.Acquire(t.Context(), "lock-0")
			if err != nil {
				t.Fatal(err)
			}
			failed := make(chan error, 1)
			if stage == "while an acquire waits" {
				go func() { failed <- do(c, held) }()
				for waiting := false; !waiting; time.Sleep(time.Millisecond) {
					connection.mu.Lock()
					waiting = len(connection.calls) == 1
					connection.mu.Unlock()
				}
				die()
			} else {
				die()
				<-connection.over
				failed <- do(c, held)
			}
			if err := <-failed; !errors.Is(err, errWorkerGone) {
				t.Errorf("it ended with %v", err)
			}
			<-held.Lost()
			if c.Awake() || !c.Gone() {
				t.Error("the client is there")
			}
			c.Crash() // waits for nobody
		})
	}
}

func TestTheCrashIsOnRecordBeforeAnybodyLearnsOfIt(t *testing.T) {
	connection := newConnection("worker 1", io.Discard, newLateness())
	lease := &lease{lost: make(chan struct{})}
	connection.leases[1] = lease
	told := false
	connection.register(&Client{connection: connection, opening: Opening{Died: func(*Client) {
		told = true
		select {
		case <-lease.Lost():
			t.Error("the lease is lost before the crash is on record")
		case <-connection.over:
			t.Error("calls fail before the crash is on record")
		default:
		}
	}}})
	connection.close(nil)
	if <-lease.Lost(); !told {
		t.Error("the client was not told")
	}
}

func TestALineThatCannotBeUnderstoodIsNamed(t *testing.T) {
	for what, text := range map[string]string{
		"is no JSON":                            "hello?",
		"is not an object":                      `[1]`,
		"has a field that nobody knows":         `{"at":1,"event":"lost","lease":1,"leese":2}`,
		"is an event that nobody knows":         `{"at":1,"event":"party"}`,
		"has no time":                           `{"event":"lost","lease":1}`,
		"is neither an answer nor an event":     `{"at":1}`,
		"answers what was not asked":            `{"at":1,"id":2}`,
		"answers twice":                         `{"at":1,"id":3}`,
		"greets again":                          `{"at":1,"event":"hello","protocol":1}`,
		"tells of a lease that was not asked":   `{"at":1,"event":"lost","lease":9}`,
		"tells of a client that was not opened": `{"at":1,"event":"session","client":9,"session":"0x1"}`,
		"tells of no client":                    `{"at":1,"event":"session","session":"0x1"}`,
		"tells of no session":                   `{"at":1,"event":"session","client":1,"session":"one"}`,
		"places an acquire that was not asked":  `{"at":1,"event":"enqueued","id":9}`,
		"is too long":                           `{"at":1,"error":"` + strings.Repeat("x", maxLine) + `"}`,
	} {
		t.Run("it "+what, func(t *testing.T) {
			connection := newConnection("worker 4", io.Discard, newLateness())
			connection.register(&Client{})
			connection.next = 3
			connection.calls[1] = &call{done: make(chan struct{})}
			err := connection.listen(strings.NewReader(`{"at":1,"event":"hello","protocol":1}` + "\n" + text + "\n"))
			if err == nil || !strings.Contains(err.Error(), "worker 4") || !strings.Contains(err.Error(), "line 2") {
				t.Errorf("it is taken: %v", err)
			}
			if len(text) < 100 && err != nil && !strings.Contains(err.Error(), strings.ReplaceAll(text, `"`, `\"`)) {
				t.Errorf("the message does not show it: %v", err)
			}
		})
	}
	t.Run("it does not begin with hello", func(t *testing.T) {
		connection := newConnection("worker 4", io.Discard, newLateness())
		if err := connection.listen(strings.NewReader(`{"at":1,"id":1}` + "\n")); err == nil || !strings.Contains(err.Error(), "hello") {
			t.Errorf("%v", err)
		}
	})
	t.Run("it speaks another protocol", func(t *testing.T) {
		connection := newConnection("worker 4", io.Discard, newLateness())
		if err := connection.listen(strings.NewReader(`{"at":1,"event":"hello","protocol":2}` + "\n")); err == nil || !strings.Contains(err.Error(), "protocol 2") {
			t.Errorf("%v", err)
		}
	})
	t.Run("no message shows a password", func(t *testing.T) {
		connection := newConnection("worker 4", io.Discard, newLateness())
		err := connection.listen(strings.NewReader(`{"at":1,"event":"hello","protocol":1}` + "\n" + `{"at":1,"event":"session","client":9,"session":"0x1","password":"c2VjcmV0"}` + "\n"))
		if err == nil || strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a line that the end has cut off is none", func(t *testing.T) {
		connection := newConnection("worker 4", io.Discard, newLateness())
		if err := connection.listen(strings.NewReader(`{"at":1,"event":"hello","protocol":1}` + "\n" + `{"at":1,"ev`)); err != nil {
			t.Error(err)
		}
	})
}

func TestLateWordsAreNoErrors(t *testing.T) {
	connection := newConnection("worker 4", io.Discard, newLateness())
	connection.next = 2
	gone := &Client{}
	connection.register(gone)
	connection.drop(gone)
	if err := connection.listen(strings.NewReader(`{"at":1,"event":"hello","protocol":1}
{"at":1,"event":"lost","lease":1}
{"at":1,"event":"enqueued","id":2}
{"at":1,"event":"session","client":1,"session":"0x1"}
`)); err != nil {
		t.Error(err)
	}
}

func TestAWorkerRefusesWhatItCannotRead(t *testing.T) {
	for _, text := range []string{"acquire!\n", `{"id":"1"}` + "\n"} {
		var out strings.Builder
		if err := worker.Serve(t.Context(), strings.NewReader(text), &out, newMemory()); err == nil || !strings.Contains(err.Error(), "cannot read the command") {
			t.Errorf("%q: %v", text, err)
		}
		if !strings.Contains(out.String(), `"event":"hello","protocol":1`) {
			t.Errorf("it said %q", out.String())
		}
	}
}

func TestLinesThatAPauseHasHeldUpAreNotLate(t *testing.T) {
	l := newLateness()
	l.received(1000, 1000+int64(3*time.Millisecond))
	l.pause()
	l.received(2000, int64(time.Hour))
	l.resumed()
	l.received(l.resume-int64(time.Second), l.resume) // stamped before it was stopped
	l.received(l.resume+1, l.resume+1+int64(2*time.Millisecond))
	if got := sum([]*lateness{l}); got.Lines != 2 || got.Worst != 3*time.Millisecond {
		t.Errorf("%+v; want the two lines outside of the pause", got)
	}
}
