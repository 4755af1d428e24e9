package session

import (
	"errors"
	"sync"
)

// hosts hands out the servers in random order, again and again. go-zookeeper's own provider
// makes every round of attempts take a second.
type hosts struct {
	over <-chan struct{}

	mu      sync.Mutex
	servers []string
	next    int
}

func (h *hosts) Init(servers []string) error {
	if len(servers) == 0 {
		return errors.New("recipes: no servers")
	}
	h.servers = append([]string(nil), servers...)
	random.Shuffle(len(h.servers), func(i, j int) { h.servers[i], h.servers[j] = h.servers[j], h.servers[i] })
	return nil
}

func (h *hosts) Len() int { return len(h.servers) }

// Next requests the pause of a second only when the session is over: in that pause the
// Conn's loop checks whether it has been closed.
func (h *hosts) Next() (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server := h.servers[h.next%len(h.servers)]
	h.next++
	select {
	case <-h.over:
		return server, true
	default:
		return server, false
	}
}

func (h *hosts) Connected() {}
