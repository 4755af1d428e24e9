package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// listen reads the lines of the worker until its end.
func (p *process) listen(out io.Reader) {
	lines := protocol.Lines(out)
	last := p.started
	for lines.Scan() {
		text, now := lines.Bytes(), protocol.Now()
		shown := show(text)
		l, ok := p.read(text, shown)
		if ok {
			p.examine(l, shown, last, now)
			last = max(last, l.At)
		}
		p.mu.Lock()
		if err := p.flow.Said(l, len(text), time.Now()); err != nil {
			p.found("flow", shown+"\n("+err.Error()+")")
			p.mu.Unlock()
			return
		}
		p.said = append(p.said, heard{l, shown})
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) { // and its rest may never end
		p.found("length", fmt.Sprintf("a line of more than %d bytes", protocol.MaxLine))
	}
}

// show returns a line for a message: without a password, and not too long.
func show(text []byte) string {
	s := string(bytes.TrimRight(text, "\r\n"))
	if i := strings.Index(s, `"password"`); i >= 0 {
		if j := strings.IndexAny(s[i:], ",}"); j >= 0 {
			s = s[:i] + `"password":…` + s[i+j:]
		}
	}
	if len(s) > 300 {
		s = s[:300] + "…"
	}
	return s
}

// read decodes a line.
func (p *process) read(text []byte, shown string) (l protocol.Line, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&l)
	if bound := l.Bound(); err == nil && bound != nil {
		p.found("names", shown+"\n("+bound.Error()+")")
	}
	if err == nil && len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		err = errors.New("something follows the object")
	}
	if err == nil {
		return l, true
	}
	kind := "JSON"
	if strings.Contains(err.Error(), "unknown field") {
		kind = "fields"
	}
	p.found(kind, shown+"\n("+err.Error()+")")
	l = protocol.Line{}
	return l, json.Unmarshal(text, &l) == nil
}

// examine checks a line by the rules for all lines.
func (p *process) examine(l protocol.Line, shown string, last, now int64) {
	switch {
	case l.At <= 0:
		p.found("at", shown)
	case l.At < p.started || l.At > now:
		p.found("clock", fmt.Sprintf("%s\nCLOCK_MONOTONIC was at %d when it came", shown, now))
	case l.At < last:
		p.found("order", fmt.Sprintf("%s\nafter a line of %d", shown, last))
	}
	if (l.Event == protocol.SayHello) == p.greeted {
		p.found("first", shown)
	}
	p.greeted = true
	p.mu.Lock()
	defer p.mu.Unlock()
	switch l.Event {
	case "":
		if !p.pending[l.ID] {
			p.found("answer", shown)
		}
		delete(p.pending, l.ID)
	case protocol.SayHello:
	case protocol.SayLost, protocol.SayRevokeRequested:
		if l.Lease < 1 || l.Lease > p.next {
			p.found("reference", shown)
		}
	case protocol.SayEnqueued, protocol.SayObserved:
		if l.ID < 1 || l.ID > p.next {
			p.found("reference", shown)
		}
	case protocol.SaySession, protocol.SayPresence, protocol.SaySuspended, protocol.SayResumed:
		if l.Client == nil || !p.clients[*l.Client] {
			p.found("reference", shown)
		}
	default:
		p.found("event", shown)
	}
}
