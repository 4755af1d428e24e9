package remote

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// counted records how often clients have tried to connect. A worker need not report that.
func (t *connection) counted(all []histories.Connects) error {
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
