package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
	"github.com/zkverify/zkverify/workload/worker"
)

// wrongEnv makes the test binary a worker that hosts a mutex and does one thing wrong, named by
// the value. It does nothing wrong if the value is "right", or "everything", with which it
// hosts all recipes.
const wrongEnv = "ZKVERIFY_TEST_WRONG_WORKER"

// fields is a line before it is decoded to a type.
type fields = map[string]any

// way is a way to be wrong: a change of the lines to and from a correct worker. Nil changes
// nothing.
type way struct {
	said func(w *wrongly, line fields, say func(fields)) // a line that it says
	told func(w *wrongly, line fields) bool              // a command to it; false keeps it back
	// step is the step that finds it, and expected a part of its message.
	step, expected string
}

// drop drops the lines for which is reports true.
func drop(is func(fields) bool) func(*wrongly, fields, func(fields)) {
	return func(_ *wrongly, line fields, say func(fields)) {
		if !is(line) {
			say(line)
		}
	}
}

// change changes a line.
func change(f func(w *wrongly, line fields)) func(*wrongly, fields, func(fields)) {
	return func(w *wrongly, line fields, say func(fields)) {
		f(w, line)
		say(line)
	}
}

func event(name string) func(fields) bool {
	return func(line fields) bool { return line["event"] == name }
}

// replace carries out another command instead of one.
func replace(do, other string) func(*wrongly, fields) bool {
	return func(_ *wrongly, line fields) bool {
		if line["do"] == do {
			line["do"] = other
		}
		return true
	}
}

// ways are the ways that the check must find.
var ways = map[string]way{
	"no hello":              {said: drop(event("hello")), step: "hello", expected: `"event":"hello"`},
	"another protocol":      {said: change(func(_ *wrongly, l fields) { setIf(l, "hello", "protocol", 2) }), step: "hello", expected: `"protocol":1`},
	"no echo":               {told: swallow("echo"), step: "echo", expected: "an answer to echo"},
	"a line for a person":   {said: func(w *wrongly, l fields, say func(fields)) { w.raw("DEBUG connecting\n"); say(l) }, step: "lines", expected: "one JSON object on each line"},
	"a field of its own":    {said: change(func(_ *wrongly, l fields) { l["debug"] = true }), step: "lines", expected: "no field that docs/worker.md does not name"},
	"wall-clock time":       {said: change(func(_ *wrongly, l fields) { l["at"] = time.Now().UnixNano() }), step: "lines", expected: "CLOCK_MONOTONIC"},
	"no time":               {said: change(func(_ *wrongly, l fields) { delete(l, "at") }), step: "lines", expected: `"at" in every line`},
	"time in ms":            {said: change(func(_ *wrongly, l fields) { l["at"] = int64(l["at"].(float64)) / 1e6 }), step: "lines", expected: "CLOCK_MONOTONIC"},
	"two answers":           {said: func(_ *wrongly, l fields, say func(fields)) { say(l); twice(l, say) }, step: "lines", expected: "one answer to each command"},
	"the first of many":     {told: firstOfMany, step: "pipelining", expected: "an answer to echo"},
	"no session event":      {said: drop(event("session")), step: "open", expected: `{"event":"session",…} before open is answered`},
	"no password":           {said: change(func(_ *wrongly, l fields) { unsetIf(l, "session", "password") }), step: "open", expected: `"password" in the event session`},
	"a wrong password":      {said: change(func(_ *wrongly, l fields) { setIf(l, "session", "password", "MDEyMzQ1Njc4OWFiY2RlZg==") }), step: "loss", expected: "the session and its password"},
	"no server":             {said: change(func(_ *wrongly, l fields) { unsetIf(l, "session", "server") }), step: "open", expected: `"server" with the id`},
	"no presence":           {said: drop(event("presence")), step: "open", expected: `{"event":"presence"`},
	"a wrong czxid":         {said: change(func(_ *wrongly, l fields) { setIf(l, "presence", "czxid", 7) }), step: "open", expected: `"czxid":`},
	"no cancel":             {told: swallow("cancel"), step: "cancel", expected: "an answer to acquire"},
	"no cancelled release":  {told: neverReleases, step: "cancelled release", expected: "an answer to acquire"},
	"no word of why":        {said: change(func(_ *wrongly, l fields) { delete(l, "why") }), step: "try", expected: `"why":"not-acquired"`},
	"one at a time":         {told: oneAtATime, step: "wait", expected: "an answer to echo"},
	"never valid":           {said: change(func(_ *wrongly, l fields) { delete(l, "valid") }), step: "acquire", expected: `"valid":true of a lease that is held`},
	"no tokens":             {said: change(func(_ *wrongly, l fields) { delete(l, "token") }), step: "acquire", expected: `a "token" greater than`},
	"no place":              {said: drop(event("enqueued")), step: "wait", expected: `{"event":"enqueued"`},
	"no loss":               {said: drop(event("lost")), step: "loss", expected: `{"event":"lost"`},
	"no release":            {told: swallow("release"), step: "acquire", expected: "an answer to release"},
	"a crash in good order": {told: replace("crash", "close"), step: "crash", expected: "left to expire"},
	"a close that crashes":  {told: replace("close", "crash"), step: "close", expected: "the end of session"},
	"deaf to the end":       {step: "end of input", expected: "the end of the process"},
	"silent at bad input":   {step: "bad input", expected: "the end of the process"},
	"all is well":           {told: anythingGoes, step: "unknown command", expected: "there is no such command"},
}

// worst are ways in which a worker does its worst after its hello, so that nothing of it can be
// used. Each of them ends the step itself: the check closes the output, or the worker ends.
var worst = map[string]way{
	"floods": {said: after(func(w *wrongly) {
		for {
			w.raw(`{"at":1,"event":"session","client":1,"session":"0x1"}` + "\n")
		}
	}), expected: "no more lines than are asked for"},
	"never ends a line": {said: after(func(w *wrongly) {
		for {
			w.raw(strings.Repeat("x", 1<<16))
		}
	}), expected: "lines of at most 1 MiB"},
	"a name of a MiB": {said: after(func(w *wrongly) {
		w.raw(`{"at":1,"event":"session","client":1,"session":"0x` + strings.Repeat("1", 1<<19) + `"}` + "\n")
		os.Exit(0)
	}), expected: "names of at most 1000 bytes"},
}

// after says hello, and then calls worst.
func after(worst func(*wrongly)) func(*wrongly, fields, func(fields)) {
	return func(w *wrongly, l fields, say func(fields)) {
		say(l)
		worst(w)
	}
}

// twice repeats an answer.
func twice(l fields, say func(fields)) {
	if l["id"] != nil && l["event"] == nil {
		say(l)
	}
}

func setIf(l fields, event, field string, value any) {
	if l["event"] == event {
		l[field] = value
	}
}

func unsetIf(l fields, event, field string) {
	if l["event"] == event {
		delete(l, field)
	}
}

func swallow(do string) func(*wrongly, fields) bool {
	return func(_ *wrongly, l fields) bool { return l["do"] != do }
}

// neverReleases takes every release for one that was cancelled.
func neverReleases(w *wrongly, l fields) bool {
	if l["do"] != "release" {
		return true
	}
	w.say(fields{"at": protocol.Now(), "id": l["id"], "error": "cancelled", "why": "cancelled"})
	return false
}

// firstOfMany drops all echoes that arrive together except the first.
func firstOfMany(w *wrongly, l fields) bool {
	return l["do"] != "echo" || l["id"].(float64) < 10
}

// oneAtATime holds commands back while another is not answered.
func oneAtATime(w *wrongly, l fields) bool {
	if l["do"] == "cancel" {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.busy {
		w.idle.Wait()
	}
	w.busy = true
	return true
}

// anythingGoes answers an unknown command.
func anythingGoes(_ *wrongly, l fields) bool {
	if l["do"] == "dance" {
		l["do"] = "echo"
	}
	return true
}

// wrongly stands between a worker and its pipes, and changes lines.
type wrongly struct {
	way
	name string
	out  io.Writer

	mu   sync.Mutex
	idle sync.Cond
	busy bool
}

func (w *wrongly) raw(text string) { _, _ = io.WriteString(w.out, text) }

func (w *wrongly) say(l fields) {
	if text, err := json.Marshal(l); err == nil {
		w.raw(string(text) + "\n")
	}
}

// Write receives whole lines of the worker.
func (w *wrongly) Write(text []byte) (int, error) {
	var l fields
	if err := json.Unmarshal(text, &l); err != nil {
		return 0, err
	}
	if l["event"] == nil {
		w.mu.Lock()
		w.busy = false
		w.idle.Broadcast()
		w.mu.Unlock()
	}
	if w.said == nil {
		w.raw(string(text))
		return len(text), nil
	}
	w.said(w, l, w.say)
	return len(text), nil
}

// beWrong is called by TestMain.
func beWrong(name string) {
	w := &wrongly{way: ways[name], name: name, out: os.Stdout}
	if worst, is := worst[name]; is {
		w.way = worst
	}
	w.idle.L = &w.mu
	in, tell := io.Pipe()
	go w.listen(os.Stdin, tell)
	hosted := targets.All()
	if name != "everything" {
		target, err := targets.Named("recipes")
		if err != nil {
			panic(err)
		}
		hosted = []lock.Target{oneRecipe{target}}
	}
	if err := worker.Serve(context.Background(), in, w, hosted...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// oneRecipe hides that a target offers more than a mutex.
type oneRecipe struct{ lock.Target }

// listen hands commands on.
func (w *wrongly) listen(in io.Reader, tell *io.PipeWriter) {
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			if w.name == "deaf to the end" {
				time.Sleep(time.Hour)
			}
			_ = tell.Close()
			return
		}
		var l fields
		if json.Unmarshal(text, &l) != nil && w.name == "silent at bad input" {
			time.Sleep(time.Hour)
		}
		if w.told != nil && l != nil {
			if !w.told(w, l) {
				continue
			}
			text, _ = json.Marshal(l)
			text = append(text, '\n')
		}
		_, _ = tell.Write(text)
	}
}
