package recipes_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// BenchmarkLossBeforeExpiry cuts the follower that the holder is linked to off
// from its peers, at evenly spread phases of heartbeats and pings, and measures how long before
// the leader's delete of its node the holder is told of the loss. The client knows no other
// server. A negative value would mean two holders.
func BenchmarkLossBeforeExpiry(b *testing.B) {
	const golden = math.Phi - 1 // its multiples are spread evenly, however few there are
	ctx := context.Background()
	var ahead []time.Duration
	servers := ensembletest.Start(b, ensemble.LocalConfig{TickTime: tick, MinSessionTimeout: 2 * tick}) // ZooKeeper's default
	for i := 0; b.Loop(); i++ {
		_, phase := math.Modf(float64(i) * golden)
		ahead = append(ahead, lossBeforeExpiry(b, ctx, servers, i, time.Duration(phase*float64(time.Second))))
	}
	slices.Sort(ahead)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(ahead[0])/1e6, "least-ms-ahead")
	b.ReportMetric(float64(ahead[len(ahead)/2])/1e6, "median-ms-ahead")
}

func lossBeforeExpiry(b *testing.B, ctx context.Context, servers ensembletest.Servers, i int, phase time.Duration) time.Duration {
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	var addrs []string
	for _, s := range servers.Servers() {
		addrs = append(addrs, s.Addr)
	}
	leader, err := servers.Leader(ctx)
	must(err)
	follower := leader%len(addrs) + 1
	c, err := recipes.Connect(ctx, addrs[follower-1:follower], recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))
	must(err)
	defer c.Close(ctx)
	path := fmt.Sprintf("/bench-loss-%d/lock", i)
	l, err := recipes.NewMutex(c, path).Acquire(ctx)
	must(err)
	watch, events, err := zk.Connect(addrs[leader-1:leader], 30*time.Second, zk.WithLogInfo(false), zk.WithLogger(quiet{}))
	must(err)
	defer func() {
		watch.Close()
		for range events {
		}
	}()
	_, _, gone, err := watch.GetW(l.Node())
	must(err)
	time.Sleep(timeout + phase)

	var peers []links.Link
	for other := 1; other <= len(addrs); other++ {
		if other != follower {
			peers = append(peers, servers.Peer(follower, other)...)
			peers = append(peers, servers.Peer(other, follower)...)
		}
	}
	for _, p := range peers {
		must(p.Cut(ctx, links.BlackHole))
	}
	lost := make(chan time.Time, 1)
	go func() { // ends with the lease
		<-l.Lost()
		lost <- time.Now()
	}()
	<-gone
	deleted := time.Now()
	told := <-lost
	for _, p := range peers {
		must(p.Heal(ctx))
	}
	for serving := 0; serving < len(addrs); { // until the follower is back
		serving = 0
		for _, a := range addrs {
			if s, _, err := ensemble.AskStatus(ctx, ensemble.Server{Addr: a}); err == nil && s.Serving() {
				serving++
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return deleted.Sub(told)
}
