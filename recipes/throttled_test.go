package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// busy simulates servers that handle one request at a time, as ZooKeeper's do with
// zookeeper.request_throttle_max_requests=1 and zookeeper.throttled_op_wait_time=1: they put off
// every request that comes while they work on another.
type busy struct {
	mu     sync.Mutex
	until  time.Time
	putOff int
}

// request returns a hook for the requests of the client that wire intercepts.
func (b *busy) request(wire *intercept) func(op int32) bool {
	return func(op int32) bool {
		if op == opPing || op < 0 && op != opBeat {
			return true
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		now := time.Now()
		if now.Before(b.until) {
			b.putOff++
			return wire.refuseWith(throttledOp)
		}
		b.until = now.Add(5 * time.Millisecond)
		if op == opGetData || op == opChildren || op == opExists {
			b.until = now.Add(time.Millisecond)
		}
		return true
	}
}

// Servers that put off half of the requests still grant a lock to one contender after the other,
// and no lease is lost: clients do not repeat requests too often, wait too long, or miss their
// turn. A hundred grants take about 8 s; with a separate pause for each request that grew to 2 s,
// they took half a minute.
func TestServersThatPutOffWhatComesTogetherGrantLocks(t *testing.T) {
	for clients, contenders := range map[int]int{10: 10, 2: 50} {
		t.Run(fmt.Sprintf("%d clients with %d contenders each", clients, contenders), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, servers := zktest.Start(t), new(busy)
				ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
				defer cancel()
				var calls sync.WaitGroup
				for i := range clients {
					c, wire := interceptedClient(t, e, fmt.Sprint("client-", i), recipes.WithSessionTimeout(6*time.Second), recipes.WithServerTick(500*time.Millisecond))
					other := acquire(t, t.Context(), recipes.NewMutex(c, fmt.Sprint("/other/", i)))
					context.AfterFunc(other.Context(), func() {
						if err := other.Err(); errors.Is(err, recipes.ErrLeaseLost) && !errors.Is(err, recipes.LossClientClosed) {
							t.Error(err)
						}
					})
					wire.on(servers.request(wire), nil)
					for range contenders {
						calls.Go(func() {
							l, err := recipes.NewMutex(c, "/lock").Acquire(ctx)
							if err != nil {
								t.Errorf("a contender: %v", err)
								return
							}
							time.Sleep(10 * time.Millisecond)
							_ = l.Release(ctx) // continues in the background
						})
					}
				}
				calls.Wait()
				if servers.putOff < 100 {
					t.Errorf("%d requests were put off", servers.putOff)
				}
			})
		})
	}
}

// The servers may also put off a request for several watches whose answer the client does not
// wait for, and the request that sets watches again after a reconnect. The waiter is still told
// in time.
func TestWatchesThatArePutOffAreSetAllTheSame(t *testing.T) {
	for name, reconnects := range map[string]bool{"watches of a waiter": false, "watches after a reconnect": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				m := recipes.NewMutex(bubbleClient(t, e, "holder"), "/lock")
				last := acquire(t, t.Context(), m)
				var next <-chan result
				if !reconnects { // a waiter watches two nodes by one request when there are two
					next = acquiring(t.Context(), recipes.NewMutex(bubbleClient(t, e, "second"), "/lock"))
					synctest.Wait()
				}
				c, wire := interceptedClient(t, e, "third")
				refused := make(chan struct{})
				putOff := once(opSetWatches, func() bool { close(refused); return wire.refuseWith(throttledOp) })
				if !reconnects {
					wire.on(putOff, nil)
				}
				third := acquiring(t.Context(), recipes.NewMutex(c, "/lock"))
				time.Sleep(100 * time.Millisecond)
				if reconnects {
					wire.on(putOff, nil)
					e.Client("third").Disconnect()
				}
				<-refused
				time.Sleep(100 * time.Millisecond)
				if !reconnects {
					release(t, last)
					last = (<-next).ok(t)
					time.Sleep(100 * time.Millisecond)
				}
				began := time.Now()
				release(t, last)
				release(t, (<-third).ok(t))
				if took := time.Since(began); took > 100*time.Millisecond {
					t.Errorf("it has its turn after %v", took)
				}
			})
		})
	}
}
