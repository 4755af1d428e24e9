package recipes_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// Between sessions a hand-over of a lock takes only one delete and its watch event, if the next
// holder has listed the contenders ahead before. Here every holder releases at once, so the
// contenders behind have only the time of the hand-over itself: they have to list the queue and
// watch the node ahead of them in one round trip, not in two.
func TestAHandOverBetweenSessionsTakesHardlyLongerThanADelete(t *testing.T) {
	const sessions, latency = 20, 10 * time.Millisecond
	var handOver, least time.Duration // each, of all seeds
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			e := zktest.Start(t, zktest.Latency(latency), zktest.Seed(seed))
			var clients []*recipes.Client
			for i := range sessions {
				clients = append(clients, bubbleClient(t, e, fmt.Sprint(i)))
			}
			handOver += handOvers(t, clients) / 5
			least += deletes(t, clients) / 5
		})
	}
	if handOver > least*5/4 {
		t.Errorf("a hand-over takes %v, and a delete with its event %v", handOver, least)
	}
}

// handOvers returns the mean time of a hand-over of a lock through all clients.
func handOvers(t *testing.T, clients []*recipes.Client) time.Duration {
	first := acquire(t, t.Context(), recipes.NewMutex(clients[0], "/l"))
	waiters := clients[1:]
	turns := make(chan int, len(waiters))
	var all sync.WaitGroup
	defer all.Wait()
	for i, client := range waiters {
		all.Go(func() {
			l, err := recipes.NewMutex(client, "/l").Acquire(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			turns <- i
			release(t, l)
		})
		time.Sleep(time.Second) // it has its place, and has listed the contenders ahead
	}
	began := time.Now()
	all.Go(func() { release(t, first) })
	for i := range waiters {
		if got := <-turns; got != i {
			t.Errorf("turn %d is that of %d", i, got)
		}
	}
	return time.Since(began) / time.Duration(len(waiters))
}

// deletes returns the mean time from a client's delete of a node until the next client gets the event.
func deletes(t *testing.T, clients []*recipes.Client) (each time.Duration) {
	for i, client := range clients[1:] {
		node, err := clients[i].Conn().Create("/d-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // all servers have the nodes
		_, _, gone, err := client.Conn().GetW(node)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := clients[i].Conn().Delete(node, -1); err != nil {
			t.Fatal(err)
		}
		<-gone
		each += time.Since(began)
	}
	return each / time.Duration(len(clients)-1)
}

// An acquirer that waits for a permit of its own session sends its transaction right after the
// delete that releases the permit, without waiting for the answer, both with a fixed and with a
// shared size.
func TestAPermitPassesWithinASessionInOneRoundTrip(t *testing.T) {
	const oneWay = 100 * time.Millisecond
	for name, shared := range map[string]bool{"of a fixed size": false, "of a shared size": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				c := bubbleClient(t, e, "one", recipes.WithSessionTimeout(time.Minute))
				s := recipes.NewSemaphore(c, "/semaphore", 1)
				if shared {
					count := recipes.NewSharedCount(c, "/size", 1)
					if err := count.Set(t.Context(), 1); err != nil {
						t.Fatal(err)
					}
					s = recipes.NewSharedSemaphore(c, "/semaphore", count)
				}
				first, err := s.Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				e.Client("one").Delay(oneWay)
				granted := make(chan time.Time)
				go func() { // ends when it has given its permit back
					defer close(granted)
					second, err := s.Acquire(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					granted <- time.Now()
					_ = second.Release(t.Context())
				}()
				time.Sleep(5 * time.Second) // it waits
				began := time.Now()
				go func() { _ = first.Release(t.Context()) }()
				if took := (<-granted).Sub(began); took >= 3*oneWay {
					t.Errorf("it took %v, where a round trip is %v", took, 2*oneWay)
				}
				<-granted
			})
		})
	}
}
