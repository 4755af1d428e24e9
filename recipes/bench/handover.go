package main

import (
	"context"
	"slices"
)

// handOvers measures the traffic while a lock passes through contenders that all wait. It
// counts from the first release, so that the creation of their places and their requests
// before they slept are left out. The floor is left out: it has no waiters.
func (b *bench) handOvers(ctx context.Context, c timedCase, links *relays) (*measure, error) {
	peers, notes := b.entrants(slices.DeleteFunc(slices.Clone(c.peers), func(name string) bool { return name == floor }))
	m := &measure{Case: c.name, Title: c.title + handOverTitle, Unit: count, Peers: peers, Samples: map[string][]float64{}, Notes: notes}
	w := c.work
	w.cycles, w.servers = 1, links.addrs
	for rep := range b.reps {
		for k := range peers {
			name := peers[(rep+k)%len(peers)]
			b.progress("%s: hand-overs, %s, %s", c.name, repetition(rep, b.reps), name)
			var sent traffic
			ok, err := b.do(ctx, name, w, func(ctx context.Context, p peer, w work) (err error) {
				sent, err = b.handOver(ctx, p, w, links)
				return err
			})
			if err != nil {
				return nil, err
			}
			if ok {
				m.Samples[name] = append(m.Samples[name], float64(sent.requests)/float64(w.contenders))
			}
		}
	}
	b.explain(m, peers, nil)
	return m, nil
}

// handOverTitle ends the title of a measure of hand-overs.
const handOverTitle = ": requests a hand-over"

// handOver makes all contenders wait, and returns the traffic from the release of the
// holder before them until each has had the lock.
func (b *bench) handOver(ctx context.Context, p peer, w work, links *relays) (traffic, error) {
	if err := p.park(ctx, w); err != nil {
		return traffic{}, err
	}
	if err := b.settled(ctx, w, links); err != nil {
		return traffic{}, err
	}
	before := links.count()
	if err := p.unpark(ctx); err != nil {
		return traffic{}, err
	}
	return links.count().since(before), nil
}
