package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
)

// setCreations stops servers, sets a node's counter of created children in their data, and starts
// them again.
func setCreations(t *testing.T, servers *ensemble.Local, path string, creations int64) {
	t.Helper()
	java, err := ensemble.FindJava("")
	if err != nil {
		t.Fatal(err)
	}
	classes, err := ensemble.FindZooKeeper("")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers.Servers() {
		if err := servers.Kill(within(t), s.ID); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range servers.Servers() {
		dir, err := servers.DataDir(within(t), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(within(t), java, "-cp", classes, "testdata/SetCreations.java", dir, path, strconv.FormatInt(creations, 10)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, s := range servers.Servers() {
		if err := servers.Restart(within(t), s.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// takeTurns makes clients take turns until each of them has been refused. It returns the number
// of grants, and fails the test when two clients hold at a time or a token decreases.
func takeTurns(t *testing.T, clients []*recipes.Client, acquire func(context.Context, *recipes.Client) (*recipes.Lease, error)) (grants int) {
	t.Helper()
	var mu sync.Mutex
	var last recipes.Token
	holders := 0
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			for {
				l, err := acquire(within(t), c)
				if errors.Is(err, recipes.ErrSequenceEnd) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				grants++
				if holders++; holders > 1 {
					t.Errorf("%d hold %s", holders, l.Node())
				}
				if l.Token().Compare(last) <= 0 {
					t.Errorf("token %v after %v", l.Token(), last)
				}
				last = l.Token()
				mu.Unlock()
				time.Sleep(time.Millisecond) // it holds
				mu.Lock()
				holders--
				mu.Unlock()
				if err := l.Release(within(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	return grants
}

// Near the end of the sequence numbers no two clients hold at a time, and every acquire is
// refused with an error that says what to do. A lease from before stays.
func TestAcquiresAreRefusedWhereSequenceNumbersEnd(t *testing.T) {
	ensembletest.EveryNight(t)
	needReal(t, "what number follows the last one is up to ZooKeeper")
	own, ok := ensembletest.Start(t, ensemble.LocalConfig{TickTime: tick, Servers: 1}).(*ensemble.Local)
	if !ok {
		t.Fatal("the servers are no processes of their own")
	}
	addrs := []string{own.Servers()[0].Addr}
	const end = int64(1) << 31
	for _, test := range []struct {
		name  string
		left  int64 // numbers before the end
		grant int   // number of acquires that are granted
		dir   string
		take  func(path string) func(context.Context, *recipes.Client) (*recipes.Lease, error)
	}{
		{"a mutex that comes to the end", 1<<20 + 10, 10, "", acquireMutexAt},
		{"a mutex at the last numbers", 5, 0, "", acquireMutexAt},
		{"a mutex behind the end", 1, 0, "", acquireMutexAt},
		{"an election that comes to the end", 1<<20 + 10, 10, "", func(path string) func(context.Context, *recipes.Client) (*recipes.Lease, error) {
			return func(ctx context.Context, c *recipes.Client) (*recipes.Lease, error) {
				return recipes.NewElection(c, path).Campaign(ctx)
			}
		}},
		{"a semaphore that comes to the end", 1<<20 + 10, 10, "/locks", func(path string) func(context.Context, *recipes.Client) (*recipes.Lease, error) {
			return func(ctx context.Context, c *recipes.Client) (*recipes.Lease, error) {
				return recipes.NewSemaphore(c, path, 1).Acquire(ctx)
			}
		}},
		{"a read-write lock that comes to the end", 1<<20 + 10, 10, "", func(path string) func(context.Context, *recipes.Client) (*recipes.Lease, error) {
			return func(ctx context.Context, c *recipes.Client) (*recipes.Lease, error) {
				return recipes.NewReadWriteMutex(c, path).Write().Acquire(ctx)
			}
		}},
		{"a multi-lock that comes to the end", 1<<20 + 10, 10, "", func(path string) func(context.Context, *recipes.Client) (*recipes.Lease, error) {
			return func(ctx context.Context, c *recipes.Client) (*recipes.Lease, error) {
				both, err := recipes.NewMultiLock(recipes.NewMutex(c, path), recipes.NewMutex(c, path+"-other")).Acquire(ctx)
				if err != nil {
					return nil, err
				}
				first := both.Leases()[0]
				context.AfterFunc(first.Context(), func() { _ = both.Release(context.Background()) })
				return first, nil
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := "/" + strings.ReplaceAll(test.name, " ", "-")
			conn := adminAt(t, addrs)
			persistent(t, conn, path)
			if test.dir != "" {
				persistent(t, conn, path+test.dir)
			}
			setCreations(t, own, path+test.dir, end-test.left)
			var clients []*recipes.Client
			for range 3 {
				clients = append(clients, connect(t, addrs))
			}
			if got := takeTurns(t, clients, test.take(path)); got != test.grant {
				t.Errorf("%d grants, want %d", got, test.grant)
			}
			_, err := test.take(path)(within(t), clients[0])
			if !errors.Is(err, recipes.ErrSequenceEnd) || !strings.Contains(err.Error(), "stop the clients that use "+path+test.dir+", and delete it") {
				t.Errorf("it says %v", err)
			}
			eventually(t, "nothing is left of those who were refused", func() bool { return len(contenders(t, conn, path+test.dir)) == 0 })
			if err := conn.Delete(path+test.dir, -1); err != nil {
				t.Fatal(err)
			}
			l, err := test.take(path)(within(t), clients[0])
			if err != nil {
				t.Fatalf("after the node was deleted: %v", err)
			}
			if test.dir == "" && !strings.HasSuffix(l.Node(), fmt.Sprintf("%010d", 0)) {
				t.Errorf("its node is %s", l.Node())
			}
		})
	}
}

func acquireMutexAt(path string) func(context.Context, *recipes.Client) (*recipes.Lease, error) {
	return func(ctx context.Context, c *recipes.Client) (*recipes.Lease, error) {
		return recipes.NewMutex(c, path).Acquire(ctx)
	}
}
