package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// waitingCase measures a thousand contenders that wait behind a holder, and the hand-over
// of the lock through all of them.
const waitingCase = "waiting"

var waitingWork = work{kind: mutex, sessions: 1, contenders: 1000, cycles: 1}

// waitingMeasures returns the measures of that case, each with its targets for package
// recipes.
func waitingMeasures() []*measure {
	all := []string{ours, zkLock, sequential, curator, kazoo}
	inGo := []string{ours, zkLock, sequential}
	return []*measure{
		{Title: "1,000 waiters: goroutines each", Unit: count, Peers: inGo, Bounds: []bound{{"", 2}}},
		{Title: "1,000 waiters: heap and stack each", Unit: size, Peers: inGo, Bounds: []bound{{"", 8192}}},
		{Title: "1,000 waiters: watches at the servers, together", Unit: count, Peers: all, Bounds: []bound{{"", 4}}},
		{Title: "1,000 waiters: requests a hand-over", Unit: count, Peers: all, Bounds: []bound{{"", 3}}},
		{Title: "1,000 waiters: bytes a hand-over, both ways", Unit: size, Peers: all},
	}
}

// usage is the present use of memory and goroutines of this process.
type usage struct {
	goroutines int
	bytes      uint64
}

func useNow() usage {
	debug.FreeOSMemory() // collects garbage, and the stacks of goroutines that ended
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{runtime.NumGoroutine(), m.HeapAlloc + m.StackInuse}
}

// wait measures the case. Links go through the relays: no time is measured.
func (b *bench) wait(ctx context.Context) ([]*measure, error) {
	measures := waitingMeasures()
	peers, notes := b.entrants(measures[len(measures)-1].Peers)
	for _, m := range measures {
		m.Case, m.Samples, m.Notes = waitingCase, map[string][]float64{}, notes
	}
	w := waitingWork
	w.servers = b.servers.relays.addrs
	for rep := range b.reps {
		for k := range peers {
			name := peers[(rep+k)%len(peers)]
			b.progress("%s: %s, %s", waitingCase, repetition(rep, b.reps), name)
			var figures []float64
			ok, err := b.do(ctx, name, w, func(ctx context.Context, p peer, w work) (err error) {
				figures, err = b.waiters(ctx, p, w)
				return err
			})
			if err != nil {
				return nil, err
			}
			for i, m := range measures {
				if _, inGo := b.peers[name].(*process); ok && (!inGo || i >= 2) {
					m.Samples[name] = append(m.Samples[name], figures[i])
				}
			}
		}
	}
	b.explain(measures[0], peers, nil) // they share the notes
	return measures, nil
}

// waiters returns one figure for each measure.
func (b *bench) waiters(ctx context.Context, p peer, w work) ([]float64, error) {
	few := w
	few.contenders = 10
	if err := b.servers.at(few, func(few work) error { _, err := p.run(ctx, few); return err }); err != nil {
		return nil, err // this run opens the session
	}
	watches, err := b.servers.watches(ctx)
	if err != nil {
		return nil, err
	}
	before := useNow()
	if err := p.park(ctx, w); err != nil {
		return nil, err
	}
	if err := b.settled(ctx, w, b.servers.relays); err != nil {
		return nil, err
	}
	during := useNow()
	more, err := b.servers.watches(ctx)
	if err != nil {
		return nil, err
	}
	sent := b.servers.relays.count()
	if err := p.unpark(ctx); err != nil {
		return nil, err
	}
	passed := b.servers.relays.count().since(sent)
	n := float64(w.contenders)
	return []float64{
		float64(during.goroutines-before.goroutines) / n,
		(float64(during.bytes) - float64(before.bytes)) / n,
		float64(more - watches),
		float64(passed.requests) / n,
		float64(passed.bytes) / n,
	}, nil
}

// settled waits until all contenders are in the queue and have made their last requests
// before they sleep: hardly a request passes the relays for a while, twice. A few pass,
// since package recipes sends a heartbeat each sixth of a session timeout. It takes two
// such times, since as few requests may be the last ones of the contenders.
func (b *bench) settled(ctx context.Context, w work, links *relays) error {
	const quiet = sessionTimeout / 5
	heartbeats := int64(10 * w.sessions) // two beats each, of five requests
	last, calm := int64(-1), 0
	for {
		queue, _, err := b.servers.conn.Children(w.path)
		if err != nil {
			return err
		}
		now := links.count().requests
		if len(queue) == w.contenders+1 && last >= 0 && now-last <= heartbeats {
			calm++
		} else {
			calm = 0
		}
		if calm == 2 {
			return nil
		}
		last = now
		select {
		case <-time.After(quiet):
		case <-ctx.Done():
			return fmt.Errorf("%d of %d nodes in the queue: %w", len(queue), w.contenders+1, context.Cause(ctx))
		}
	}
}
