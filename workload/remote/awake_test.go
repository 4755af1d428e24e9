package remote

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// asked is a worker that receives questions, and answers none.
type asked chan string

func (a asked) Write(b []byte) (int, error) {
	a <- string(b)
	return len(b), nil
}

func TestAWorkerIsAskedWhetherItRunsWhenAFaultPausesIt(t *testing.T) {
	for name, in := range map[string]struct {
		before func(*lateness)
		asks   bool
	}{
		"never paused":     {func(*lateness) {}, false},
		"paused":           {func(l *lateness) { l.pause() }, true},
		"paused and woken": {func(l *lateness) { l.pause(); l.resumed() }, false},
		"paused again":     {func(l *lateness) { l.pause(); l.resumed(); l.pause() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			commands := make(asked, 2)
			c := &Client{connection: newConnection("worker 1", commands, newLateness(time.Second)), torn: make(chan struct{})}
			awake := make(chan bool)
			go c.connection.write()
			defer close(c.connection.over)
			in.before(c.connection.late)
			go func() { awake <- c.Awake() }()
			select {
			case runs := <-awake: // without the answer to a question
				if in.asks || !runs {
					t.Errorf("it said %v and did not ask; want it asked: %v", runs, in.asks)
				}
			case line := <-commands:
				if !in.asks || !strings.Contains(line, protocol.DoEcho) {
					t.Errorf("it asked %q; want it asked: %v", line, in.asks)
				}
				close(c.torn)
				if <-awake {
					t.Error("it runs, though the run has given it up")
				}
			}
		})
	}
}

func TestAClientThatIsGoneIsNotAwake(t *testing.T) {
	for name, end := range map[string]func(*Client){
		"given up":          func(c *Client) { close(c.torn) },
		"its process ended": func(c *Client) { close(c.connection.over) },
	} {
		c := &Client{connection: newConnection("worker 1", make(asked, 1), newLateness(time.Second)), torn: make(chan struct{})}
		c.connection.ended = errWorkerGone
		end(c)
		if c.Awake() {
			t.Errorf("%s: it is awake", name)
		}
	}
}
