package session

import (
	"runtime"
	"strings"
	"sync"
)

// Callbacks records which goroutines run the user's code on behalf of a client. When that
// code closes the client, Close must not wait for the goroutine that calls it. The zero
// value is ready.
type Callbacks struct {
	mu      sync.Mutex
	running map[string]int // by goroutine; a callback may call another one
}

// Run calls f, which is the user's code. On a nil Callbacks it calls f and records nothing.
func (c *Callbacks) Run(f func()) {
	if c == nil {
		f()
		return
	}
	id := goroutine()
	c.count(id, 1)
	defer c.count(id, -1)
	f()
}

func (c *Callbacks) count(id string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = make(map[string]int)
	}
	if c.running[id] += n; c.running[id] == 0 {
		delete(c.running, id)
	}
}

// Inside reports whether the calling goroutine runs one of the callbacks, or a method of a
// connection.
func (c *Callbacks) Inside() bool {
	if inConnection() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.running) > 0 && c.running[goroutine()] > 0
}

// inConnection reports whether the calling goroutine reads, writes or closes the connection
// of a client. The user's code may do so: a connection that a dialer has made, TLS or SASL.
// These calls are not recorded, since each read and write would take some µs longer. The
// stack does not show which client the connection belongs to.
func inConnection() bool {
	callers := make([]uintptr, 128)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if strings.Contains(frame.Function, "/internal/session.(*wireConn).") {
			return true
		}
		if !more {
			return false
		}
	}
}

// goroutine returns the number of the calling goroutine. Go shows it only in the first line
// of a stack: "goroutine 18 [running]:".
func goroutine() string {
	var head [64]byte
	id, _, _ := strings.Cut(strings.TrimPrefix(string(head[:runtime.Stack(head[:], false)]), "goroutine "), " ")
	return id
}
