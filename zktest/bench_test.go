package zktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/zktest"
)

// BenchmarkStartToFirstLock measures the real time from Start to the first lock.
func BenchmarkStartToFirstLock(b *testing.B) {
	for b.Loop() {
		e := zktest.Start(b)
		client := connect(b, e, "one")
		acquire(b, client, "/l")
		b.StopTimer()
		_ = client.Close(context.Background())
		b.StartTimer()
	}
}

// BenchmarkInABubble measures the real time of a test in a bubble.
func BenchmarkInABubble(b *testing.B) {
	for _, bench := range []struct {
		name string
		test func(*testing.T)
	}{
		{"start to first lock", func(t *testing.T) {
			acquire(t, connect(t, zktest.Start(t), "one"), "/l")
		}},
		{"loss", func(t *testing.T) {
			e := zktest.Start(t)
			lease, two := acquire(t, connect(t, e, "one"), "/l"), connect(t, e, "two")
			e.Client("one").Cut()
			next := acquire(t, two, "/l")
			<-lease.Lost()
			_ = next.Release(t.Context())
		}},
		{"idle minute with a lock", func(t *testing.T) {
			acquire(t, connect(t, zktest.Start(t), "one"), "/l")
			time.Sleep(time.Minute)
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				synctest.Test(new(testing.T), bench.test) // a failure ends the benchmark
			}
		})
	}
}
