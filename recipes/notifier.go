package recipes

import (
	"sync"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// notifier delivers the calls of observers and listeners in order. Its goroutine runs while calls
// are queued; the Client owns it, and waits for it in Close.
type notifier struct {
	mu      sync.Mutex
	queue   []func()
	running bool
	wg      sync.WaitGroup
	calls   session.Callbacks // the calls that the goroutine makes
}

func (n *notifier) post(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queue = append(n.queue, f)
	if !n.running {
		n.running = true
		n.wg.Go(n.run)
	}
}

func (n *notifier) run() {
	for {
		n.mu.Lock()
		if len(n.queue) == 0 {
			n.running = false
			n.mu.Unlock()
			return
		}
		f := n.queue[0]
		n.queue = n.queue[1:]
		n.mu.Unlock()
		n.calls.Run(f)
	}
}
