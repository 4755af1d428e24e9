package interop_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// peer is the Java process. It plays any number of Curator clients; java/Peer.java describes the
// protocol on its pipes.
type peer struct {
	command *exec.Cmd
	log     safeBuffer // its standard error

	write sync.Mutex // not mu: the peer's output must be read while its input is full
	in    io.WriteCloser

	mu    sync.Mutex
	next  int
	calls map[string]*javaCall        // by id, until they are forgotten
	heard map[string]func(javaAnswer) // by client: gets the events that belong to no call
	over  error                       // the reason why it does not answer any more
	ended chan struct{}               // closed when its output has ended
}

// javaAnswer is one line of the peer.
type javaAnswer struct {
	ID      string   `json:"id"`
	Event   string   `json:"event"` // ok, error; enqueued, lost; state, revoke
	Error   string   `json:"error"`
	Done    bool     `json:"done"`  // the command succeeded
	Value   int      `json:"value"` // of a shared count
	Nodes   []string `json:"nodes"`
	Data    []string `json:"data"`
	Zxid    int64    `json:"zxid"`
	Session int64    `json:"session"`
	Ahead   int      `json:"ahead"`
	Client  string   `json:"client"`
	State   string   `json:"state"`
	Lock    string   `json:"lock"`
}

// buildPeer compiles the peer into dir.
func buildPeer(t ensemble.CuratorTools, dir string) error {
	sources, err := filepath.Glob(filepath.Join("java", "*.java"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return t.Compile(ctx, dir, sources...)
}

// startPeer starts the peer that was compiled into dir.
func startPeer(t ensemble.CuratorTools, dir string) (*peer, error) {
	p := &peer{calls: map[string]*javaCall{}, heard: map[string]func(javaAnswer){}, ended: make(chan struct{})}
	p.command = exec.Command(t.Java, append([]string{"-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Djava.net.preferIPv4Stack=true", "-Dzookeeper.sasl.client=false", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"},
		t.Arguments(dir, "zkverify.interop.Peer")...)...)
	p.command.Stderr = &p.log
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go p.read(out) // ends with the process
	return p, nil
}

// close ends the process by closing its standard input, which also happens when this process is
// killed.
func (p *peer) close() error {
	_ = p.in.Close()
	<-p.ended
	return p.command.Wait()
}

func (p *peer) read(out io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a javaAnswer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			p.fail(fmt.Errorf("the peer wrote %q: %w", lines.Text(), err))
			continue
		}
		p.mu.Lock()
		call, hear := p.calls[a.ID], p.heard[a.Client]
		p.mu.Unlock()
		switch {
		case call != nil:
			call.told(a)
		case a.ID == "" && hear != nil:
			hear(a)
		}
	}
	p.fail(errors.New("the peer has ended"))
}

// fail gives an error to all calls that wait for the peer.
func (p *peer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over == nil {
		p.over = err
	}
	for _, c := range p.calls {
		c.told(javaAnswer{Event: "error", Error: p.over.Error()})
	}
}

// hear calls f with the peer's events of a client that are not answers, in order, until f is set
// to nil. f must not wait for the peer.
func (p *peer) hear(client string, f func(javaAnswer)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f == nil {
		delete(p.heard, client)
		return
	}
	p.heard[client] = f
}

// javaCall is one command with the peer's answer and events.
type javaCall struct {
	peer *peer
	id   string
	lost chan struct{} // closed when the lock that it acquired was lost

	enqueued func(javaAnswer) // told of each place in a queue; may be nil

	mu     sync.Mutex
	isLost bool
	answer chan javaAnswer // holds the one answer
}

// Only the peer's reader calls told, so the answer to an acquire is known before its loss.
func (c *javaCall) told(a javaAnswer) {
	switch a.Event {
	case "enqueued":
		if c.enqueued != nil {
			c.enqueued(a)
		}
	case "lost":
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.isLost {
			c.isLost = true
			close(c.lost)
		}
	default:
		select {
		case c.answer <- a:
		default: // a second one: the process died after it had answered
		}
	}
}

// wasLost reports whether the lock that the command acquired was lost.
func (c *javaCall) wasLost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isLost
}

// send sends a command without waiting for the answer. Call forget when no more events of the
// call are needed.
func (p *peer) send(worker, verb, client string, enqueued func(javaAnswer), arguments ...any) *javaCall {
	words := []string{"", worker, verb, client}
	for _, a := range arguments {
		words = append(words, fmt.Sprint(a))
	}
	c := &javaCall{peer: p, lost: make(chan struct{}), enqueued: enqueued, answer: make(chan javaAnswer, 1)}
	p.mu.Lock()
	p.next++
	c.id = strconv.Itoa(p.next)
	p.calls[c.id] = c
	over := p.over
	p.mu.Unlock()
	if over != nil {
		c.answer <- javaAnswer{Event: "error", Error: over.Error()}
		return c
	}
	words[0] = c.id
	for i, w := range words {
		words[i] = url.QueryEscape(w)
	}
	p.write.Lock()
	defer p.write.Unlock()
	// The death of the peer is noticed by the end of its output.
	_, _ = io.WriteString(p.in, strings.Join(words, " ")+"\n")
	return c
}

// errCurator marks errors that Curator has thrown.
var errCurator = errors.New("Curator")

// wait returns the answer. When ctx ends first the command is interrupted, and wait continues:
// the peer's answer tells whether the command had an effect.
func (c *javaCall) wait(ctx context.Context) (javaAnswer, error) {
	var a javaAnswer
	select {
	case a = <-c.answer:
	case <-ctx.Done():
		c.peer.send("-", "interrupt", c.id, nil).forget()
		a = <-c.answer
		if a.Event == "error" {
			return a, fmt.Errorf("%w (%w: %s)", context.Cause(ctx), errCurator, a.Error)
		}
	}
	if a.Event == "error" {
		return a, fmt.Errorf("%w: %s", errCurator, a.Error)
	}
	return a, nil
}

// forget stops the delivery of a call's events.
func (c *javaCall) forget() {
	c.peer.mu.Lock()
	defer c.peer.mu.Unlock()
	delete(c.peer.calls, c.id)
}

// do sends a command and waits for its answer.
func (p *peer) do(ctx context.Context, worker, verb, client string, arguments ...any) (javaAnswer, error) {
	c := p.send(worker, verb, client, nil, arguments...)
	defer c.forget()
	return c.wait(ctx)
}

// safeBuffer is a buffer that may be read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
