package inspect_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/inspect"
)

// BenchmarkFind reads 10,000 locks, each with a holder and a waiter, of eight sessions. It
// makes them on the servers that ZKVERIFY_SERVERS names, below /zkverify-bench, and removes
// them: zkverify ensemble up starts some. It reports the allocated memory; the memory of a process
// is reported by
//
//	/usr/bin/time -v zkverify locks ls /zkverify-bench
//
// while ZKVERIFY_BENCH_KEEP=1m makes the benchmark keep the locks for a minute.
func BenchmarkFind(b *testing.B) {
	addrs := os.Getenv("ZKVERIFY_SERVERS")
	if addrs == "" {
		b.Skip("ZKVERIFY_SERVERS names no servers")
	}
	const locks, sessions = 10_000, 8
	conns := make([]*zk.Conn, sessions)
	for i := range conns {
		conn, _, err := zk.Connect(strings.Split(addrs, ","), 30*time.Second, zk.WithLogger(silent{}))
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		conns[i] = conn
	}
	const root = "/zkverify-bench"
	acl := zk.WorldACL(zk.PermAll)
	if _, err := conns[0].Create(root, nil, 0, acl); err != nil {
		b.Fatal(err)
	}
	defer removeAll(b, conns[0], root, locks)
	var made sync.WaitGroup
	for w := range 32 * sessions {
		made.Go(func() {
			for i := w; i < locks; i += 32 * sessions {
				lock := fmt.Sprintf("%s/%05d", root, i)
				if _, err := conns[0].Create(lock, nil, 0, acl); err != nil {
					b.Error(err)
					return
				}
				for n := range 2 {
					if _, err := conns[(i+n)%sessions].Create(lock+"/"+curator(i, "lock-", n), []byte("web-1/4711"), zk.FlagEphemeral, acl); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	made.Wait()
	if d, err := time.ParseDuration(os.Getenv("ZKVERIFY_BENCH_KEEP")); err == nil {
		fmt.Println("made")
		time.Sleep(d)
	}
	for name, options := range map[string][]inspect.Option{"ls": {inspect.Brief()}, "doctor": nil} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				found, err := inspect.Find(b.Context(), conns[0], []string{root}, options...)
				if err != nil || len(found.Locks) != locks {
					b.Fatalf("%d locks, error %v", len(found.Locks), err)
				}
			}
		})
	}
}

func removeAll(b *testing.B, conn *zk.Conn, root string, locks int) {
	var gone sync.WaitGroup
	for w := range 64 {
		gone.Go(func() {
			for i := w; i < locks; i += 64 {
				lock := fmt.Sprintf("%s/%05d", root, i)
				for n := range 2 {
					_ = conn.Delete(lock+"/"+curator(i, "lock-", n), -1)
				}
				_ = conn.Delete(lock, -1)
			}
		})
	}
	gone.Wait()
	if err := conn.Delete(root, -1); err != nil {
		b.Error(err)
	}
}
