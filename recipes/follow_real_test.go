package recipes_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
)

// A session that acquires a mutex again is granted it without reading the queue when the
// transaction numbers show that there was no transaction in between except its last release. This
// test repeats that case: the clients of one session at a time take most turns, one after the
// other. Clients of other sessions come in between, and so do writes elsewhere, while the servers
// change their leader.
func TestTurnsThatFollowOneAnotherWhileLeadersChange(t *testing.T) {
	needReal(t, "transactions get numbers of another leader")
	if os.Getenv(ensembletest.Variable) != "real" {
		t.Skip("it takes half a minute: make test-real runs it")
	}
	const duration, sessions, path = 30 * time.Second, 3, "/follow/lock"
	own := ensembletest.Start(t, ensemble.LocalConfig{TickTime: tick})
	addrs := addressesOf(own)
	var text bytes.Buffer
	record, err := histories.NewRecorder(&text, histories.Header{
		Target: "recipes", Recipe: "mutex", Promises: histories.Promises{Tokens: true, TellsLoss: true, Reentrant: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), duration)
	defer stop()
	var busy atomic.Int64 // the session whose clients take most turns
	var all sync.WaitGroup
	for s := range sessions {
		c := connect(t, addrs)
		var turn sync.Mutex
		for i := range 3 {
			p, r := record.Process(), rand.New(rand.NewPCG(uint64(s), uint64(i)))
			all.Go(func() {
				for ctx.Err() == nil {
					switch {
					case busy.Load() == int64(s):
					case r.Float64() < 0.05: // comes in between
					default:
						time.Sleep(10 * time.Millisecond)
						continue
					}
					alone := r.Float64() < 0.9
					if alone {
						turn.Lock()
					}
					if err := takeTurn(ctx, p, recipes.NewMutex(c, path), time.Duration(r.Int64N(int64(time.Millisecond)))); err != nil {
						t.Error(err)
					}
					if alone {
						turn.Unlock()
					}
				}
			})
		}
	}
	writer := connect(t, addrs)
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			time.Sleep(50 * time.Millisecond)
			busy.Store(int64(i / 20 % sessions))
			if conn := writer.Conn(); conn != nil {
				_, _ = conn.Create(fmt.Sprintf("/elsewhere-%d", i), nil, 0, zk.WorldACL(zk.PermAll)) // fails without a leader
			}
		}
	})
	changeLeaders(t, ctx, own)
	all.Wait()
	if err := record.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := histories.Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	report, err := checker.Check(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Verdicts {
		if v.Outcome == verdict.Violated {
			t.Error(v.String())
		}
	}
	turns, expected, leaders := following(h)
	t.Logf("%d events: %d turns followed one another, %d of them as was expected, under %d leaders", len(h.Events), turns, expected, leaders)
	if expected == 0 || leaders < 3 {
		t.Error("that is no attack")
	}
}

// takeTurn acquires a mutex, holds it for the time hold, and releases it, and records the
// operations.
func takeTurn(ctx context.Context, p *histories.Process, m *recipes.Mutex, hold time.Duration) error {
	var lease *recipes.Lease
	err := p.Do(histories.Event{Op: histories.Acquire, Lock: m.Path()}, func(e *histories.Event) (err error) {
		if lease, err = m.Acquire(ctx); err == nil {
			e.Token, e.Session = histories.Token{Zxid: lease.Token().Zxid, Sub: lease.Token().Sub}, fmt.Sprintf("0x%016x", uint64(lease.SessionID()))
		}
		return err
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	select {
	case <-lease.Lost():
		return p.Lost(m.Path())
	case <-time.After(hold):
	}
	_ = p.Release(m.Path(), func() error { return lease.Release(context.Background()) }) // it may be lost meanwhile
	return nil
}

// changeLeaders alternately kills the leader and stops it for a while, until ctx ends. All
// servers run when it returns.
func changeLeaders(t *testing.T, ctx context.Context, servers ensembletest.Servers) {
	t.Helper()
	for i := 0; ctx.Err() == nil; i++ {
		<-time.After(2 * time.Second) // of turns
		leader, err := servers.Leader(ctx)
		if err != nil {
			continue
		}
		strike, heal, length := servers.Kill, servers.Restart, 500*time.Millisecond
		if i%2 == 1 {
			strike, heal, length = servers.Pause, servers.Resume, 2*time.Second
		}
		if err := strike(t.Context(), leader); err != nil {
			t.Fatal(err)
		}
		<-time.After(length)
		if err := heal(t.Context(), leader); err != nil {
			t.Fatal(err)
		}
	}
}

// following counts the grants of a mutex to a node that was created two transactions after the
// previously granted node of the same session; those of them that followed eight such grants; and
// the leaders under which nodes were created.
func following(h *histories.History) (turns, expected, leaders int) {
	var last histories.Event
	run := 0
	for _, e := range h.Events {
		if e.Op != histories.Acquire || e.Type != histories.OK {
			continue
		}
		run++
		if e.Token.Zxid != last.Token.Zxid+2 || e.Session != last.Session {
			run = 0
		}
		if run > 0 {
			turns++
		}
		if run > 8 {
			expected++
		}
		if e.Token.Zxid>>32 != last.Token.Zxid>>32 {
			leaders++
		}
		last = e
	}
	return turns, expected, leaders
}
