package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// workLimit bounds one repetition of one peer. The slowest is the naive lock with a
// thousand contenders, which takes about a minute.
const workLimit = 5 * time.Minute

// bench is one run.
type bench struct {
	servers  *servers
	peers    map[string]peer
	missing  map[string]string // why a peer is not, or no longer, in peers
	reps     int
	warmUps  int
	quick    bool // for a first look
	progress func(format string, args ...any)
}

// startOthers starts the peers in other processes, with files in dir, and returns their
// versions.
func (b *bench) startOthers(ctx context.Context, dir string) (versions []string) {
	for _, other := range []struct {
		name  string
		start func(ctx context.Context, dir string) (*process, error)
	}{{curator, startCurator}, {kazoo, startKazoo}} {
		b.progress("starting %s", other.name)
		p, err := other.start(ctx, dir)
		if err != nil {
			b.missing[other.name] = "not measured: " + err.Error()
			continue
		}
		b.peers[other.name] = p
		versions = append(versions, other.name+" "+p.version)
	}
	b.progress("starting %s", inWorker)
	p, err := startCuratorWorker(ctx, dir, b.servers)
	if err != nil {
		b.missing[inWorker] = "not measured: " + err.Error()
		return versions
	}
	b.peers[inWorker] = p
	return versions
}

// entrants returns the names of the peers that can be measured, and the reasons why the
// others cannot.
func (b *bench) entrants(names []string) (able []string, notes map[string]string) {
	notes = map[string]string{}
	for _, name := range names {
		if b.peers[name] != nil {
			able = append(able, name)
		} else {
			notes[name] = b.missing[name]
		}
	}
	return able, notes
}

// do runs what with a peer and a work. A peer that fails takes no further part. Only the
// end of ctx and a failure of the servers are errors.
func (b *bench) do(ctx context.Context, name string, w work, what func(ctx context.Context, p peer, w work) error) (ok bool, err error) {
	p := b.peers[name]
	if p == nil {
		return false, nil
	}
	var failure error
	err = b.servers.at(w, func(w work) error {
		ctx, cancel := context.WithTimeoutCause(ctx, workLimit, fmt.Errorf("not done after %v", workLimit))
		defer cancel()
		failure = what(ctx, p, w)
		return nil
	})
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if failure != nil {
		b.missing[name] = "failed: " + failure.Error()
		delete(b.peers, name)
		p.close()
	}
	return failure == nil, err
}

// time measures a case: the peers take turns.
func (b *bench) time(ctx context.Context, c timedCase) (*measure, error) {
	peers, notes := b.entrants(c.peers)
	m := &measure{
		Case: c.name, Title: c.title, Unit: duration, Peers: c.peers, Bounds: c.bounds, Notes: notes,
		Samples: map[string][]float64{}, Per: map[string]perCycle{},
	}
	counting := b.servers.relays
	if c.delay > 0 {
		slow, err := b.servers.slowed(ctx, c.delay)
		if err != nil {
			return nil, err
		}
		c.work.servers, counting = slow.addrs, slow.relays
	}
	mallocs := map[string][]float64{}
	for rep := -b.warmUps; rep < b.reps; rep++ {
		sums, err := b.repeat(ctx, c, peers, rep)
		if err != nil {
			return nil, err
		}
		for name, sum := range sums {
			if rep >= 0 && b.peers[name] != nil {
				m.Samples[name] = append(m.Samples[name], float64(sum.elapsed))
				mallocs[name] = append(mallocs[name], float64(sum.mallocs))
			}
		}
	}
	for _, name := range peers {
		if c.once[name] {
			continue
		}
		b.progress("%s: counting, %s", c.name, name)
		counted := c.work
		if b.quick {
			counted.cycles /= max(1, c.slices)
		}
		requests, bytes, err := b.count(ctx, name, counted, counting)
		if err != nil {
			return nil, err
		}
		if b.peers[name] == nil {
			continue
		}
		total := float64(c.work.total())
		m.Per[name] = perCycle{
			Nanoseconds: median(m.Samples[name]) / total,
			Requests:    requests / float64(counted.total()),
			Bytes:       bytes / float64(counted.total()),
			Mallocs:     median(mallocs[name]) / total,
		}
	}
	b.explain(m, peers, c.once)
	return m, nil
}

// repeat makes one repetition of a case and returns its cost for each peer. A negative
// repetition is a warm-up.
func (b *bench) repeat(ctx context.Context, c timedCase, peers []string, rep int) (map[string]result, error) {
	sums := map[string]result{}
	cuts := max(1, c.slices)
	w := c.work
	w.cycles /= cuts
	if rep < 0 && b.quick {
		cuts, w.contenders = 1, max(w.sessions, w.contenders/10)
	}
	for slice := range cuts {
		for k := range peers {
			name := peers[(b.warmUps+rep+slice+k)%len(peers)]
			if c.once[name] && (rep != 0 || b.quick) {
				continue
			}
			b.progress("%s: %s, %s", c.name, repetition(rep, b.reps), name)
			if _, err := b.do(ctx, name, w, func(ctx context.Context, p peer, w work) error {
				r, err := p.run(ctx, w)
				sums[name] = result{sums[name].elapsed + r.elapsed, sums[name].mallocs + r.mallocs}
				return err
			}); err != nil {
				return nil, err
			}
		}
	}
	return sums, nil
}

// explain notes why peers have no figure, or few.
func (b *bench) explain(m *measure, peers []string, once map[string]bool) {
	for _, name := range peers {
		switch {
		case b.peers[name] == nil:
			m.Notes[name] = b.missing[name]
		case once[name] && b.quick:
			m.Notes[name] = "left out by -quick: too slow"
		case once[name]:
			m.Notes[name] = "too slow for more than 1 run"
		}
	}
}

// disconnect ends the sessions of all peers after a case, since idle sessions still send
// heartbeats.
func (b *bench) disconnect(ctx context.Context) {
	for name, p := range b.peers {
		if err := p.disconnect(ctx); err != nil {
			b.missing[name] = "failed: " + err.Error()
			delete(b.peers, name)
			p.close()
		}
	}
}

func repetition(rep, reps int) string {
	if rep < 0 {
		return "warm-up"
	}
	return fmt.Sprintf("repetition %d of %d", rep+1, reps)
}

// count returns the requests that the peer sends, and the bytes that it sends and receives,
// in one work.
func (b *bench) count(ctx context.Context, name string, w work, links *relays) (requests, bytes float64, err error) {
	w.servers = links.addrs
	// The first work opens the sessions. A peer makes one cycle more than its work
	// has, before its clock starts.
	few := w
	few.contenders, few.cycles = w.sessions, 1
	for _, w := range []work{few, w} {
		if _, err := b.do(ctx, name, w, func(ctx context.Context, p peer, w work) error {
			before := links.count()
			_, err := p.run(ctx, w)
			sent := links.count().since(before)
			share := float64(w.total()) / float64(w.total()+1)
			requests, bytes = float64(sent.requests)*share, float64(sent.bytes)*share
			return err
		}); err != nil {
			return 0, 0, err
		}
	}
	return requests, bytes, nil
}

// all runs the chosen cases, and calls made with each measure as soon as it is complete.
func (b *bench) all(ctx context.Context, cases []string, made func(*measure)) error {
	for _, c := range timedCases {
		if !slices.Contains(cases, c.name) {
			continue
		}
		m, err := b.time(ctx, c)
		if err != nil {
			return err
		}
		made(m)
		if c.delay > 0 {
			if m, err = b.handOvers(ctx, c, b.servers.slow.relays); err != nil {
				return err
			}
			made(m)
		}
		b.disconnect(ctx)
	}
	if slices.Contains(cases, waitingCase) {
		measures, err := b.wait(ctx)
		if err != nil {
			return err
		}
		for _, m := range measures {
			made(m)
		}
	}
	return nil
}

func (b *bench) close() {
	for _, p := range b.peers {
		p.close()
	}
}
