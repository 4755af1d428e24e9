package session

import (
	"runtime"
	"strings"
	"sync"
)

// Callbacks knows which goroutines run code of the user's on behalf of a client, so that
// code of the user's which closes the client is not waited for by its own goroutine. The
// zero value is ready.
type Callbacks struct {
	mu      sync.Mutex
	running map[string]int // by goroutine; a callback may lead to another one
}

// Run calls f, which is code of the user's. Nil calls it too, and knows nothing.
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

// Inside reports whether the calling goroutine is in one of the callbacks, or in a method of a
// connection.
func (c *Callbacks) Inside() bool {
	if inConnection() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.running) > 0 && c.running[goroutine()] > 0
}

// inConnection reports whether the calling goroutine reads, writes or closes the connection of a
// client: in what a dialer has made, in TLS or in SASL, which may be code of the user's. They are
// not counted, since each read and write would take some µs longer. Of which client it is, the
// stack does not tell.
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

// goroutine returns the number of the calling goroutine. Go tells it in the first line of a
// stack alone: "goroutine 18 [running]:".
func goroutine() string {
	var head [64]byte
	id, _, _ := strings.Cut(strings.TrimPrefix(string(head[:runtime.Stack(head[:], false)]), "goroutine "), " ")
	return id
}
