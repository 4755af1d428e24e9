package workload

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/zkverify/zkverify/histories"
)

// killable is a client in a worker process, and what is on record of it. kill
// ends the process.
func killable(t *testing.T) (c *client, kill func(), events func() []histories.Event) {
	t.Helper()
	var record bytes.Buffer
	rec, err := histories.NewRecorder(&record, histories.Header{})
	if err != nil {
		t.Fatal(err)
	}
	r := &run{cfg: Config{Clients: 1}}
	r.journal = &journal{Recorder: rec, refuse: func(err error) { t.Error(err) }}
	c = newClient(r, 0)
	r.clients = []*client{c}
	talk := newTalk("worker 1", io.Discard, newLateness())
	remote := &remoteClient{talk: talk, torn: make(chan struct{})}
	talk.register(remote)
	c.home.opened(remote, remote, func() {})
	c.opened(remote, remote)
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
	return c, sync.OnceFunc(func() { talk.close(nil, func() { r.buryAll(talk) }) }), events
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
	c.record(acquire)
	kill()
	acquire.Type = histories.Fail
	c.record(acquire) // the call failed, since nobody answers
	c.record(histories.Event{Type: histories.Lost, Lock: "lock-0"})
	// What is left of its cycle goes on in vain, under the number of its next process.
	c.record(histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-1", Process: c.current()})
	if !c.buried() || c.client() != nil {
		t.Error("the client goes on as if it were open")
	}
	c.abandon() // as its cycle had planned
	again := &remoteClient{talk: newTalk("worker 1", io.Discard, newLateness()), torn: make(chan struct{})}
	c.opened(again, again)
	acquire.Type, acquire.Process = histories.Invoke, c.current()
	c.record(acquire)
	got := events()
	if want := []histories.Type{histories.Invoke, histories.Crash, histories.Invoke}; !slices.Equal(types(got), want) {
		t.Fatalf("on record: %v; want %v", types(got), want)
	}
	if got[1].Process != 0 || got[2].Process == 0 {
		t.Errorf("process %d crashed, and process %d went on", got[1].Process, got[2].Process)
	}
}

func TestAProcessCrashesOnceHoweverItDies(t *testing.T) {
	for what, before := range map[string]func(c *client){
		"it had just crashed by itself":     func(c *client) { c.record(histories.Event{Type: histories.Crash}) },
		"it had just been retired":          func(c *client) { retired(c) },
		"it had crashed and was not opened": func(c *client) { c.crash(histories.Event{Lock: "lock-0"}) },
	} {
		t.Run(what, func(t *testing.T) {
			c, kill, events := killable(t)
			before(c)
			kill()
			c.wg.Wait()
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
		remote := c.take()
		kill()
		c.opened(remote, remote.(*remoteClient))
		if !c.buried() || c.buried() {
			t.Error("it is not seen that it is gone, or twice")
		}
		if got := types(events()); !slices.Equal(got, []histories.Type{histories.Crash}) {
			t.Errorf("on record: %v", got)
		}
	})
}

func retired(c *client) {
	e := histories.Event{Type: histories.Invoke, Op: histories.Release, Lock: "lock-0"}
	c.record(e)
	e.Type = histories.Info
	c.record(e)
}
