package remote

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// asked is a worker that is asked, and answers nothing.
type asked chan string

func (a asked) Write(b []byte) (int, error) {
	a <- string(b)
	return len(b), nil
}

func TestAWorkerThatHasSpokenJustNowIsNotAskedWhetherItRuns(t *testing.T) {
	spoke := func(c *Client, ago time.Duration) {
		now := protocol.Now()
		c.connection.late.received(now-int64(ago), now)
	}
	for name, in := range map[string]struct {
		before func(c *Client)
		asks   bool
	}{
		"just now":                              {func(c *Client) { spoke(c, 0) }, false},
		"a while ago":                           {func(c *Client) { spoke(c, 2*justNow) }, true},
		"a while ago, by a line that came late": {func(c *Client) { spoke(c, 0); spoke(c, time.Second); time.Sleep(2 * justNow) }, true},
		"just now, and it was paused since":     {func(c *Client) { spoke(c, 0); c.connection.late.pause() }, true},
		"in a pause, by a line from before":     {func(c *Client) { c.connection.late.pause(); spoke(c, 0) }, true},
		"never":                                 {func(*Client) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			commands := make(asked, 2)
			c := &Client{connection: newConnection("worker 1", commands, newLateness()), torn: make(chan struct{})}
			awake := make(chan bool)
			in.before(c)
			go func() { awake <- c.Awake() }()
			select {
			case runs := <-awake: // without the answer to a question
				if in.asks || !runs {
					t.Errorf("it said %v and did not ask; want it asked: %v", runs, in.asks)
				}
			case line := <-commands:
				// A busy machine may take longer than a line counts.
				if !in.asks && c.connection.late.runs(protocol.Now()) || !strings.Contains(line, protocol.DoEcho) {
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

func TestAClientThatIsGoneIsNotAwakeThoughItHasSpokenJustNow(t *testing.T) {
	for name, end := range map[string]func(*Client){
		"given up":          func(c *Client) { close(c.torn) },
		"its process ended": func(c *Client) { close(c.connection.over) },
	} {
		late := newLateness()
		c := &Client{connection: newConnection("worker 1", make(asked, 1), late), torn: make(chan struct{})}
		c.connection.ended = errWorkerGone
		end(c)
		late.received(protocol.Now(), protocol.Now())
		if c.Awake() {
			t.Errorf("%s: it is awake", name)
		}
	}
}
