package remote

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

func TestALineThatCannotBeUnderstoodIsNamed(t *testing.T) {
	for what, text := range map[string]string{
		"is no JSON":                            "hello?",
		"is not an object":                      `[1]`,
		"has an unknown field":                  `{"at":1,"event":"lost","lease":1,"leese":2}`,
		"is an unknown event":                   `{"at":1,"event":"party"}`,
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
		"places an acquire in no session":       `{"at":1,"event":"enqueued","id":1,"session":"one"}`,
		"observes by a command that does not":   `{"at":1,"event":"observed","id":1}`,
		"observes by no command":                `{"at":1,"event":"observed","id":9}`,
		"is too long":                           `{"at":1,"error":"` + strings.Repeat("x", protocol.MaxLine) + `"}`,
	} {
		t.Run("it "+what, func(t *testing.T) {
			connection := newConnection("worker 4", io.Discard, newLateness(time.Second))
			connection.register(&Client{})
			connection.next = 3
			connection.calls[1] = &call{ctx: t.Context(), done: make(chan struct{})}
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
		connection := newConnection("worker 4", io.Discard, newLateness(time.Second))
		if err := connection.listen(strings.NewReader(`{"at":1,"id":1}` + "\n")); err == nil || !strings.Contains(err.Error(), "hello") {
			t.Errorf("%v", err)
		}
	})
	t.Run("it speaks another protocol", func(t *testing.T) {
		connection := newConnection("worker 4", io.Discard, newLateness(time.Second))
		if err := connection.listen(strings.NewReader(`{"at":1,"event":"hello","protocol":2}` + "\n")); err == nil || !strings.Contains(err.Error(), "protocol 2") {
			t.Errorf("%v", err)
		}
	})
	t.Run("no message shows a password", func(t *testing.T) {
		connection := newConnection("worker 4", io.Discard, newLateness(time.Second))
		err := connection.listen(strings.NewReader(`{"at":1,"event":"hello","protocol":1}` + "\n" + `{"at":1,"event":"session","client":9,"session":"0x1","password":"c2VjcmV0"}` + "\n"))
		if err == nil || strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a line that the end has cut off is none", func(t *testing.T) {
		connection := newConnection("worker 4", io.Discard, newLateness(time.Second))
		if err := connection.listen(strings.NewReader(`{"at":1,"event":"hello","protocol":1}` + "\n" + `{"at":1,"ev`)); err != nil {
			t.Error(err)
		}
	})
}

func TestLateWordsAreNoErrors(t *testing.T) {
	connection := newConnection("worker 4", io.Discard, newLateness(time.Second))
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

// FuzzAWorkerSaysAnything feeds the connection with lines of strangers, while commands and a
// lease are under way. The error names a line that cannot be understood, and no such line
// counts as an answer.
func FuzzAWorkerSaysAnything(f *testing.F) {
	const hello = `{"at":1,"event":"hello","protocol":1}` + "\n"
	for _, text := range []string{
		hello + `{"at":2,"id":1,"token":{"zxid":7}}` + "\n" + `{"at":3,"event":"lost","lease":1}` + "\n",
		hello + `{"at":2,"event":"enqueued","id":1,"lock":"a","session":"0x1"}` + "\n",
		hello + `{"at":2,"event":"session","client":1,"session":"0x1","password":"AAAA"}` + "\n" + `{"at":2,"id":2,"error":"no","why":"lost"}` + "\n",
		hello + hello, "{}\n", "[\n", `{"at":9223372036854775807,"event":"hello","protocol":1,"hosts":{"recipes":["mutex"]}}` + "\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		connection := newConnection("worker 4", io.Discard, newLateness(time.Second))
		c := &Client{connection: connection, torn: make(chan struct{})}
		connection.register(c)
		connection.next = 3
		var calls []*call
		for id := range int64(3) {
			k := &call{ctx: t.Context(), done: make(chan struct{})}
			if id == 0 {
				k.lease = &lease{c: c, lost: make(chan struct{})}
			}
			connection.calls[id+1] = k
			calls = append(calls, k)
		}
		err := connection.listen(strings.NewReader(text))
		if err != nil && !strings.HasPrefix(err.Error(), "worker 4: line ") {
			t.Errorf("the error does not name the line: %v", err)
		}
		answered := 0
		for _, k := range calls {
			select {
			case <-k.done:
				answered++
			default:
			}
		}
		if answered+len(connection.calls) != len(calls) || answered > strings.Count(text, "\n") {
			t.Errorf("%d of %d commands are answered, and %d are under way, after %d lines", answered, len(calls), len(connection.calls), strings.Count(text, "\n"))
		}
		connection.close(err, func() {})
	})
}
