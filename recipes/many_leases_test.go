package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A holder whose node an administrator deletes is told within a heartbeat and a round trip,
// however many leases its client has, and a heartbeat has one write for each 500 of them.
func TestADeletedNodeAmongManyIsToldWithinAHeartbeat(t *testing.T) {
	ensembletest.EveryNight(t)
	for _, n := range []int{1, 64, 500, 1000, 1201} {
		t.Run(fmt.Sprint(n, " leases"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const timeout, tick = 6 * time.Second, 500 * time.Millisecond
				const roundTrip = 50 * time.Millisecond // by which a heartbeat, too, may be late
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				draw := rand.New(rand.NewPCG(seed, 0))
				e := zktest.Start(t, zktest.Tick(tick))
				client, wire := interceptedClient(t, e, "holder", recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))
				leases := acquireMany(t, client, n)
				conn := bubbleClient(t, e, "administrator").Conn()
				var writes atomic.Int64
				wire.on(func(op int32) bool {
					if op == opBeat {
						writes.Add(1)
					}
					return true
				}, nil)

				before := time.Now()
				time.Sleep(10 * timeout / 6)
				beats := int64(time.Since(before) / (timeout / 6))
				quiet, most := writes.Load(), (beats+1)*int64((n+499)/500)
				if quiet > most || quiet < beats-1 {
					t.Errorf("%d writes in %d heartbeats of %d leases, want %d at most", quiet, beats, n, most)
				}
				var took []time.Duration
				for range min(n, 20) {
					time.Sleep(time.Duration(draw.Int64N(int64(timeout))))
					i := draw.IntN(len(leases))
					l := leases[i]
					leases = slices.Delete(leases, i, i+1)
					at := time.Now()
					if err := conn.Delete(l.Node(), -1); err != nil {
						t.Fatal(err)
					}
					<-l.Lost()
					if err := l.Err(); !errors.Is(err, recipes.LossNodeDeleted) {
						t.Error(err)
					}
					took = append(took, time.Since(at))
				}
				slices.Sort(took)
				t.Logf("told after %v in the median, %v at most; %d writes in %d heartbeats", took[len(took)/2], took[len(took)-1], quiet, beats)
				if most := took[len(took)-1]; most > timeout/6+roundTrip {
					t.Errorf("told after %v, a heartbeat is %v", most, timeout/6)
				}
				for _, l := range leases {
					if !l.Valid() {
						t.Fatalf("another lease is lost: %v", l.Err())
					}
				}
			})
		})
	}
}

// All nodes of many leases are deleted at once.
func TestManyDeletedNodesAreToldWithinAHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout, tick = 6 * time.Second, 500 * time.Millisecond
		e := zktest.Start(t, zktest.Tick(tick))
		client := bubbleClient(t, e, "holder", recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))
		leases := acquireMany(t, client, 200)
		conn := bubbleClient(t, e, "administrator").Conn()
		for _, l := range leases {
			if err := conn.Delete(l.Node(), -1); err != nil {
				t.Fatal(err)
			}
		}
		at := time.Now()
		for _, l := range leases {
			<-l.Lost()
		}
		t.Logf("all are told after %v", time.Since(at))
		if took := time.Since(at); took > timeout/2 {
			t.Errorf("the last is told after %v", took)
		}
	})
}

func acquireMany(t *testing.T, client *recipes.Client, n int) []*recipes.Lease {
	t.Helper()
	leases := make([]*recipes.Lease, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			l, err := recipes.NewMutex(client, fmt.Sprintf("/l/%d", i)).Acquire(context.Background())
			if err != nil {
				t.Error(err)
			}
			leases[i] = l
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return leases
}
