package recipes_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
)

// weighed counts the bytes of connections, each way.
type weighed struct {
	net.Conn
	bytes *atomic.Int64
}

func (c weighed) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

func (c weighed) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.bytes.Add(int64(n))
	return n, err
}

// BenchmarkLeft holds a lock for three session timeouts, on quiet servers, through a
// follower. least-s and most-s are the least and the most time left until the lease's deadline;
// the other figures are the requests and bytes in a session timeout.
func BenchmarkLeft(b *testing.B) {
	needReal(b, "how soon a leader answers is up to ZooKeeper")
	for _, test := range []struct{ timeout, tick time.Duration }{
		{10 * time.Second, 2 * time.Second}, // ZooKeeper's defaults
		{10 * time.Second, 200 * time.Millisecond},
		{2 * time.Second, 200 * time.Millisecond},
	} {
		b.Run(fmt.Sprintf("timeout=%v/tick=%v", test.timeout, test.tick), func(b *testing.B) { left(b, test.timeout, test.tick) })
	}
}

func left(b *testing.B, timeout, tick time.Duration) {
	const times = 3
	own := ensembletest.Start(b, ensemble.LocalConfig{TickTime: tick, MinSessionTimeout: 2 * tick})
	leader, err := own.Leader(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var beats, syncs, bytes atomic.Int64
	wire := &intercept{through: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return weighed{conn, &bytes}, err
	}}
	wire.on(func(op int32) bool {
		switch op {
		case opBeat:
			beats.Add(1)
		case opSync:
			syncs.Add(1)
		}
		return true
	}, nil)
	client, err := recipes.Connect(b.Context(), []string{own.Servers()[leader%3].Addr},
		recipes.WithDialer(wire.dial), recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close(context.Background())
	lease, err := recipes.NewMutex(client, "/l").Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	time.Sleep(timeout) // beats have come
	least, most := timeout, time.Duration(0)
	for b.Loop() {
		beats.Store(0)
		syncs.Store(0)
		bytes.Store(0)
		for end := time.Now().Add(times * timeout); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			ahead := time.Until(lease.Deadline())
			least, most = min(least, ahead), max(most, ahead)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(least.Seconds(), "least-s")
	b.ReportMetric(most.Seconds(), "most-s")
	b.ReportMetric(float64(beats.Load())/times, "writes/timeout")
	b.ReportMetric(float64(syncs.Load())/times, "syncs/timeout")
	b.ReportMetric(float64(bytes.Load())/times, "bytes/timeout")
}
