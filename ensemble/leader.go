package ensemble

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// statusLimit bounds the wait for a server's status: a server that is paused or cut off
// must not hold up the answers of the others.
const statusLimit = time.Second

// LeaderOf asks all servers at once and returns the ID of the one that leads, within
// about a second, or ErrUnknownLeader. A leader that was cut off goes on leading for
// about a second: of two, LeaderOf returns the one of the later epoch.
func LeaderOf(ctx context.Context, servers []Server) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, statusLimit)
	defer cancel()
	answers := make([]Status, len(servers))
	var asked sync.WaitGroup
	for i, server := range servers {
		asked.Go(func() { answers[i], _, _ = AskStatus(ctx, server) })
	}
	asked.Wait()
	best := -1
	for i, answer := range answers {
		if answer.Leads() && (best < 0 || answer.Epoch > answers[best].Epoch) {
			best = i
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("%d servers asked: %w", len(servers), ErrUnknownLeader)
	}
	return servers[best].ID, nil
}
