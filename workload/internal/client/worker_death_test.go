package client

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
)

// process is a client of a target in a worker process, which may end.
type process struct {
	lock.Client
	host
	ended atomic.Bool
}

func (p *process) Gone() bool                        { return p.ended.Load() }
func (p *process) Awake() bool                       { return !p.ended.Load() }
func (p *process) Credentials() (int64, []byte, int) { return 1, nil, 1 }
func (p *process) Tear()                             {}
func (p *process) Crash()                            {}
func (p *process) Called()                           {}

// killable returns a client in a worker process, and its events on record. kill ends the
// process.
func killable(t *testing.T) (c *Client, kill func(), events func() []histories.Event) {
	t.Helper()
	var record bytes.Buffer
	rec, err := histories.NewRecorder(&record, histories.Header{})
	if err != nil {
		t.Fatal(err)
	}
	r := &Shared{Clients: 1, Faults: journal.NewCoverage(nil, nil), Workers: new(remote.Workers), Journal: &journal.Journal{Recorder: rec, Refuse: func(err error) { t.Error(err) }}}
	c = New(r, 0)
	lives := &process{}
	c.app.opened(lives, lives, func() {})
	c.opened(lives, lives)
	events = func() []histories.Event {
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		h, err := histories.Decode(&record)
		if err != nil {
			t.Fatal(err)
		}
		return h.Events
	}
	return c, sync.OnceFunc(func() {
		c.bury(lives, lives)
		lives.ended.Store(true)
	}), events
}

func types(events []histories.Event) (out []histories.Type) {
	for _, e := range events {
		out = append(out, e.Type)
	}
	return out
}

func TestNothingOfAProcessIsOnRecordAfterItWasKilled(t *testing.T) {
	c, kill, events := killable(t)
	acquire := histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-0"}
	c.Record(acquire)
	kill()
	acquire.Type = histories.Fail
	c.Record(acquire) // the call failed, since the process does not answer
	c.Record(histories.Event{Type: histories.Lost, Lock: "lock-0"})
	// The rest of its cycle goes on without effect, under the number of its next process.
	c.Record(histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-1", Process: c.Current()})
	if !c.buried() || c.Target() != nil {
		t.Error("the client goes on as if it were open")
	}
	c.Abandon() // as its cycle had planned
	again := &process{}
	c.opened(again, again)
	acquire.Type, acquire.Process = histories.Invoke, c.Current()
	c.Record(acquire)
	got := events()
	if want := []histories.Type{histories.Invoke, histories.Crash, histories.Invoke}; !slices.Equal(types(got), want) {
		t.Fatalf("on record: %v; want %v", types(got), want)
	}
	if got[1].Process != 0 || got[2].Process == 0 {
		t.Errorf("process %d crashed, and process %d went on", got[1].Process, got[2].Process)
	}
}

func TestAProcessCrashesOnceHoweverItDies(t *testing.T) {
	for what, before := range map[string]func(c *Client){
		"it had just crashed by itself":     func(c *Client) { c.Record(histories.Event{Type: histories.Crash}) },
		"it had just been retired":          func(c *Client) { retired(c) },
		"it had crashed and was not opened": func(c *Client) { c.Crash(histories.Event{Lock: "lock-0"}) },
	} {
		t.Run(what, func(t *testing.T) {
			c, kill, events := killable(t)
			before(c)
			kill()
			c.Background.Wait()
			ends := 0
			for _, e := range events() {
				if e.Type == histories.Crash || e.Type == histories.Info {
					ends++
				}
			}
			if ends != 1 {
				t.Errorf("it ended %d times", ends)
			}
		})
	}
	t.Run("it opens as the process ends", func(t *testing.T) {
		c, kill, events := killable(t)
		before := c.take()
		kill()
		c.opened(before, before.(*process))
		if !c.buried() || c.buried() {
			t.Error("it is not seen that it is gone, or twice")
		}
		if got := types(events()); !slices.Equal(got, []histories.Type{histories.Crash}) {
			t.Errorf("on record: %v", got)
		}
	})
}

func retired(c *Client) {
	e := histories.Event{Type: histories.Invoke, Op: histories.Release, Lock: "lock-0"}
	c.Record(e)
	e.Type = histories.Info
	c.Record(e)
}
