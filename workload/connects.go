package workload

import (
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// attempts counts how often a client has tried to connect, and how often at most
// in any one window.
type attempts struct {
	window time.Duration

	mu          sync.Mutex
	recent      []time.Time // those of the window that ends with the latest, oldest first
	total, most int
	at          time.Time // when the window with the most began
}

func (a *attempts) note(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	old := 0
	for old < len(a.recent) && now.Sub(a.recent[old]) >= a.window {
		old++
	}
	a.recent = append(a.recent[:copy(a.recent, a.recent[old:])], now)
	a.total++
	if len(a.recent) > a.most {
		a.most, a.at = len(a.recent), a.recent[0]
	}
}

// counted returns what there is to put on record now.
func (a *attempts) counted() histories.Connects {
	a.mu.Lock()
	defer a.mu.Unlock()
	return histories.Connects{Attempts: a.total, Most: a.most, Ago: time.Since(a.at)}
}

// countConnects puts on record how often clients have tried to connect. What was
// counted in a worker process that was killed is not known.
func (r *run) countConnects(c *histories.Census) {
	for _, client := range r.clients {
		if client.home.members[0] != client {
			continue // it shares that one's
		}
		for _, connected := range client.home.connects() {
			if connected.Attempts > 0 {
				connected.Client = client.index
				c.Connects = append(c.Connects, connected)
			}
		}
	}
}

// connects returns what was counted of each client that the household has had,
// one after the other.
func (h *household) connects() (all []histories.Connects) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.opens {
		all = append(all, w.connects())
	}
	return all
}

// begun notes another client of the household.
func (h *household) begun(w clientNetwork) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opens = append(h.opens, w)
}

// counted takes in how often clients have tried to connect. A worker need not
// tell.
func (t *talk) counted(all []histories.Connects) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, connected := range all {
		i := connected.Client - 1
		if i < 0 || i >= len(t.had) {
			return fmt.Errorf("%s: census: there was no client %d", t.name, connected.Client)
		}
		if connected.Most < 0 || connected.Attempts < connected.Most || connected.Ago < 0 {
			return fmt.Errorf("%s: census: client %d cannot have connected %d times, %d of them %d ns ago",
				t.name, connected.Client, connected.Attempts, connected.Most, connected.Ago)
		}
		c := t.had[i]
		c.mu.Lock()
		c.counted, c.countedAt = connected, time.Now()
		c.mu.Unlock()
	}
	return nil
}
