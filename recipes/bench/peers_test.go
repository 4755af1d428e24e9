package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// started returns a bench with the peers that the machine has, for tests that need servers.
// All of them share one ensemble.
func started(t *testing.T) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	s, err := startServers(ctx)
	if ensemble.NotInstalled(err) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{servers: s, peers: inProcessPeers(), missing: map[string]string{}, reps: 2, warmUps: 1, progress: t.Logf}
	b.startOthers(ctx, t.TempDir())
	for name, why := range b.missing {
		t.Logf("SKIPPED: %s: %s", name, why)
	}
	t.Cleanup(func() {
		b.close()
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestPeersOnServers(t *testing.T) {
	ensembletest.EveryNight(t)
	b := started(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, about := range aboutPeers {
		p := b.peers[about.name]
		if p == nil {
			continue
		}
		t.Run(about.name, func(t *testing.T) { drive(t, ctx, b, about.name, p) })
	}
	t.Run("a whole case", func(t *testing.T) { smallCase(t, ctx, b) })
	t.Run("waiters", func(t *testing.T) { fewWaiters(t, ctx, b) })
	t.Run("slow links", func(t *testing.T) { slowHandOvers(t, ctx, b) })
	t.Run("a driver ends with its input", func(t *testing.T) { endOfInput(t, ctx, b) })
}

// drive makes a peer obey every command.
func drive(t *testing.T, ctx context.Context, b *bench, name string, p peer) {
	for _, c := range timedCases {
		if !slices.Contains(c.peers, name) {
			continue
		}
		w := c.work
		w.contenders, w.cycles, w.sessions = 3, 2, min(w.sessions, 3)
		if err := b.servers.at(w, func(w work) error {
			r, err := p.run(ctx, w)
			if err == nil && r.elapsed <= 0 {
				err = errors.New("it took no time")
			}
			return err
		}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, isFloor := p.(*floorPeer); isFloor {
		return
	}
	w := work{kind: mutex, sessions: 1, contenders: 3, cycles: 1}
	if err := b.servers.at(w, func(w work) error { return errors.Join(p.park(ctx, w), p.unpark(ctx)) }); err != nil {
		t.Error("park, unpark:", err)
	}
	if err := p.disconnect(ctx); err != nil {
		t.Error("disconnect:", err)
	}
	w.kind = "spinlock"
	if err := b.servers.at(w, func(w work) error { _, err := p.run(ctx, w); return err }); err == nil || !strings.Contains(err.Error(), "spinlock") {
		t.Error("a kind of lock that there is not:", err)
	}
}

// broken is a library whose third acquire fails.
type broken struct{ acquires int }

func (b *broken) connect(context.Context, string) (session, error) { return b, nil }
func (b *broken) lock(work, int) (lock, error)                     { return b, nil }
func (b *broken) close()                                           {}
func (b *broken) release(context.Context) error                    { return nil }

func (b *broken) acquire(context.Context) error {
	if b.acquires++; b.acquires == 3 {
		return errors.New("out of order")
	}
	return nil
}

func smallCase(t *testing.T, ctx context.Context, b *bench) {
	const bad = "broken"
	b.peers[bad] = newInProcess(bad, &broken{})
	b.missing["absent"] = "not installed"
	defer delete(b.missing, "absent")
	m, err := b.time(ctx, timedCase{
		name: "small", work: work{kind: mutex, sessions: 1, contenders: 1, cycles: 4}, slices: 2,
		peers: []string{ours, floor, naive, bad, "absent"},
		once:  map[string]bool{naive: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{ours: 2, floor: 2, naive: 1, bad: 0, "absent": 0} {
		if got := len(m.Samples[name]); got != want {
			t.Errorf("%s: %d samples, want %d", name, got, want)
		}
	}
	for name, want := range map[string]string{bad: "failed: out of order", "absent": "not installed", naive: "too slow for more than 1 run"} {
		if m.Notes[name] != want {
			t.Errorf("%s: noted as %q", name, m.Notes[name])
		}
	}
	// Each cycle is a create and a delete, and no other request.
	if per := m.Per[floor]; per.Requests < 2 || per.Requests > 2.5 || per.Bytes < 100 || per.Mallocs < 1 {
		t.Errorf("the floor's cycle: %+v", per)
	}
	if per := m.Per[ours]; per.Requests < 2 || per.Mallocs < 1 {
		t.Errorf("our cycle: %+v", per)
	}
	b.disconnect(ctx)
}

// fewWaiters measures a queue whose costs are known: the textbook lock.
func fewWaiters(t *testing.T, ctx context.Context, b *bench) {
	const n = 20
	w := work{kind: mutex, servers: b.servers.relays.addrs, sessions: 1, contenders: n, cycles: 1}
	for _, name := range []string{sequential, ours} {
		var figures []float64
		if ok, err := b.do(ctx, name, w, func(ctx context.Context, p peer, w work) (err error) {
			figures, err = b.waiters(ctx, p, w)
			return err
		}); !ok {
			t.Fatal(name, err, b.missing[name])
		}
		if figures[0] < 1 || figures[3] < 1 || figures[4] < 10 {
			t.Errorf("%s: %v", name, figures)
		}
		// A goroutine and a watch for each waiter; each hand-over deletes a node
		// and lists the queue.
		if name == sequential && (figures[0] >= 2 || figures[2] != n || figures[3] < 2 || figures[3] > 2.2) {
			t.Errorf("%s: %v", name, figures)
		}
	}
}

// slowHandOvers measures the hand-overs of the textbook lock through links that delay all
// packets: each deletes a node and lists the queue, one after the other.
func slowHandOvers(t *testing.T, ctx context.Context, b *bench) {
	const n, delay = 5, 20 * time.Millisecond
	slow, err := b.servers.slowed(ctx, delay)
	if err != nil {
		t.Fatal(err)
	}
	c := timedCase{name: "slow", delay: delay, peers: []string{sequential, floor, ours},
		work: work{kind: mutex, servers: slow.addrs, sessions: n, contenders: n, cycles: 1}}
	m, err := b.handOvers(ctx, c, slow.relays)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{sequential, ours} {
		if got := median(m.Samples[name]); !(got >= 1 && got < 6) {
			t.Errorf("%s: %v requests a hand-over, %s", name, got, m.Notes[name])
		}
	}
	// A connection that breaks on a busy machine adds requests to one repetition.
	if got := slices.Min(m.Samples[sequential]); got < 2 || got > 2.5 {
		t.Errorf("the textbook lock: %v requests a hand-over", m.Samples[sequential])
	}
	if len(m.Samples[floor]) > 0 {
		t.Error("a contender waited on the floor")
	}
	one := work{kind: mutex, servers: slow.addrs[:1], sessions: 1, contenders: 1, cycles: 1}
	if ok, err := b.do(ctx, floor, one, func(ctx context.Context, p peer, w work) error {
		r, err := p.run(ctx, w)
		if least := 2 * 2 * delay; r.elapsed < least {
			t.Errorf("a create and a delete took %v, less than the link takes: %v", r.elapsed, least)
		}
		return err
	}); !ok {
		t.Error(err, b.missing[floor])
	}
}

// endOfInput closes the input of drivers whose contenders will never be done.
func endOfInput(t *testing.T, ctx context.Context, b *bench) {
	for name, p := range b.peers {
		driver, ok := p.(*process)
		if !ok {
			continue
		}
		w := work{kind: mutex, sessions: 1, contenders: 3, cycles: 1}
		if err := b.servers.at(w, func(w work) error { return driver.park(ctx, w) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := driver.input.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		soon, cancel := context.WithTimeout(ctx, 15*time.Second)
		_, err := driver.answer(soon)
		cancel()
		if err == nil || !strings.Contains(err.Error(), "ended") {
			t.Errorf("%s lives on: %v", name, err)
			continue
		}
		if !driver.cmd.ProcessState.Success() {
			t.Errorf("%s: %v, %s", name, driver.cmd.ProcessState, driver.noise)
		}
	}
}
