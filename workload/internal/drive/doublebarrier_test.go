package drive

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/internal/servers"
	"github.com/zkverify/zkverify/workload/lock"
)

// In virtual time, seed 6000785 of the plan explore: a client crashed with its application
// while it waited for the others, which waited for it in the barrier until their time was over.
func TestAMemberThatCrashedBeforeItsRoundComesAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "doublebarrier-0"
		gate := &gate{size: 2, all: make(chan struct{})}
		r := &client.Shared{
			Life: t.Context(), Clients: 2, SessionTimeout: time.Second, Promises: histories.Promises{ProgressBound: 5 * time.Second},
			Target: opener{gate: gate}, Journal: &journal.Journal{Recorder: nowhere{}}, Faults: journal.NewCoverage(nil, nil), Observer: new(servers.Observer),
		}
		d := newDoubleBarrierDriver(r, &Group{recipe: doubleBarrierRecipe, names: []string{name}, lock: histories.Lock{Recipe: histories.DoubleBarrier, Size: 2}})
		first, second := client.New(r, 0), client.New(r, 1)
		through := make(chan bool, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		recovers := func(c *client.Client) { through <- d.recover(ctx, c, name) }
		go recovers(first)
		synctest.Wait() // it waits for the second
		first.Crash(histories.Event{})
		go recovers(second)
		began := time.Now()
		for range 2 {
			if !<-through {
				t.Error("a client did not pass")
			}
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
		for _, c := range []*client.Client{first, second} {
			c.Crash(histories.Event{})
			c.Background.Wait()
		}
	})
}

// gate is a double barrier.
type gate struct {
	size int
	mu   sync.Mutex
	n    int
	all  chan struct{} // closed when all members are there
}

func (g *gate) enter(ctx context.Context) error {
	g.mu.Lock()
	if g.n++; g.n == g.size {
		close(g.all)
	}
	g.mu.Unlock()
	select {
	case <-g.all:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// opener is a target whose clients pass a gate.
type opener struct {
	lock.Target
	gate *gate
}

func (o opener) Open(context.Context, lock.Env) (lock.Client, error) {
	return &gateClient{gate: o.gate}, nil
}

type gateClient struct {
	lock.Client
	gate *gate
}

func (*gateClient) Conn() *zk.Conn { return nil }
func (*gateClient) Crash()         {}
func (c *gateClient) EnterBarrier(ctx context.Context, _ string) (lock.Member, error) {
	return passing{}, c.gate.enter(ctx)
}

type passing struct{}

func (passing) Leave(context.Context) error { return nil }

// nowhere is a recorder that keeps nothing.
type nowhere struct{}

func (nowhere) Record(e histories.Event) (histories.Event, error) { return e, nil }
func (nowhere) Elapsed() time.Duration                            { return 0 }
func (nowhere) Failed() <-chan struct{}                           { return nil }
func (nowhere) Err() error                                        { return nil }
