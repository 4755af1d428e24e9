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

// Inside reports whether the calling goroutine is in one of the callbacks.
func (c *Callbacks) Inside() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.running) > 0 && c.running[goroutine()] > 0
}

// goroutine returns the number of the calling goroutine. Go tells it in the first line of a
// stack alone: "goroutine 18 [running]:".
func goroutine() string {
	var head [64]byte
	id, _, _ := strings.Cut(strings.TrimPrefix(string(head[:runtime.Stack(head[:], false)]), "goroutine "), " ")
	return id
}
