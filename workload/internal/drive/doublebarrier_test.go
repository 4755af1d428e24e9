package drive

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
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
		d := newDoubleBarrierDriver(r, cycle.Mix{}, &Group{recipe: doubleBarrierRecipe, names: []string{name}, lock: histories.Lock{Recipe: histories.DoubleBarrier, Size: 2}})
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

// Clients that wander pass a barrier without an appointment, and name no round.
func TestClientsThatWanderNameNoRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &recorder{}
		r := &client.Shared{
			Life: t.Context(), Clients: 2, SessionTimeout: time.Second, Journal: &journal.Journal{Recorder: seen},
			Target: opener{gate: &gate{size: 2, all: make(chan struct{})}}, Faults: journal.NewCoverage(nil, nil), Observer: new(servers.Observer),
		}
		d := newDoubleBarrierDriver(r, cycle.Mix{Apart: 1}, &Group{recipe: doubleBarrierRecipe, names: []string{"a", "b"}, lock: histories.Lock{Recipe: histories.DoubleBarrier, Size: 2}})
		var both sync.WaitGroup
		for i := range 2 {
			c := client.New(r, i)
			both.Go(func() {
				for n := range 5 {
					c.EnsureOpen(t.Context())
					plan := cycle.Plan{Patience: time.Second, More: rand.New(rand.NewPCG(uint64(i), uint64(n)))}
					if err := d.cycle(t.Context(), c, "b", plan); err != nil {
						t.Error(err)
					}
				}
				c.Crash(histories.Event{})
				c.Background.Wait()
			})
		}
		both.Wait()
		if n := r.Journal.Cycles.Load(); n == 0 || seen.enters == 0 || seen.named > 0 {
			t.Errorf("%d cycles, %d enters, %d with a generation", n, seen.enters, seen.named)
		}
	})
}

// recorder counts the enters that succeeded, and those of a round that has a number.
type recorder struct {
	nowhere
	mu            sync.Mutex
	enters, named int
}

func (r *recorder) Record(e histories.Event) (histories.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Op == histories.Enter && e.Type == histories.OK {
		r.enters++
	}
	if e.Generation > 0 {
		r.named++
	}
	return e, nil
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
