package inprocess

import (
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// attempts counts how often a client has tried to connect, and the most attempts in any one
// window.
type attempts struct {
	window time.Duration

	mu          sync.Mutex
	recent      []time.Time // attempts in the window that ends with the latest, oldest first
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

// counted returns the counts so far, to be recorded.
func (a *attempts) counted() histories.Connects {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.most == 0 {
		return histories.Connects{}
	}
	return histories.Connects{Attempts: a.total, Most: a.most, Ago: time.Since(a.at)}
}
