package recipes_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// BenchmarkResign measures the time from a leader's Resign until the Campaign of a candidate in
// another session returns. It alternates with the same in bare requests: one session deletes a
// node, and another session that watches it asks for the list of the nodes.
func BenchmarkResign(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	addrs := addrsOf(b)
	a, c := benchClient(b, ctx, addrs), benchClient(b, ctx, addrs)
	path := fmt.Sprintf("/bench-resign-%d", nextID.Add(1))
	var ours, bare []time.Duration
	for b.Loop() {
		ours = append(ours, changeOfLeader(b, ctx, a, c, path))
		bare = append(bare, bareChange(b, a.Conn(), c.Conn(), path+"-bare"))
	}
	middle, floor := median(ours), median(bare)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(middle)/1e6, "median-ms")
	b.ReportMetric(float64(floor)/1e6, "bare-ms")
	b.ReportMetric(float64(middle)/float64(floor), "ratio")
}

func benchClient(b *testing.B, ctx context.Context, addrs []string, options ...recipes.Option) *recipes.Client {
	b.Helper()
	c, err := recipes.Connect(ctx, addrs, append(options, recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// second starts a campaign, and returns when its candidate is the second of the queue.
func second(b *testing.B, ctx context.Context, c *recipes.Client, path string) <-chan time.Time {
	elected := make(chan time.Time, 1)
	e := recipes.NewElection(c, path)
	go func() { // ends with the campaign
		term, err := e.Campaign(ctx)
		at := time.Now()
		if err == nil {
			err = term.Release(ctx)
		}
		if err != nil {
			b.Error(err)
		}
		elected <- at
	}()
	for {
		all, err := e.Participants(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if len(all) == 2 {
			time.Sleep(20 * time.Millisecond) // if it does not watch by then, the figure is the worse for it
			return elected
		}
	}
}

func changeOfLeader(b *testing.B, ctx context.Context, from, to *recipes.Client, path string) time.Duration {
	term, err := recipes.NewElection(from, path).Campaign(ctx)
	if err != nil {
		b.Fatal(err)
	}
	elected := second(b, ctx, to, path)
	start := time.Now()
	if err := term.Release(ctx); err != nil {
		b.Fatal(err)
	}
	return (<-elected).Sub(start)
}

func bareChange(b *testing.B, from, to *zk.Conn, path string) time.Duration {
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	if _, err := from.Create(path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		b.Fatal(err)
	}
	_, err := to.Sync(path)
	must(err)
	_, _, gone, err := to.GetW(path)
	must(err)
	done := make(chan time.Time)
	go func() { // ends with the answer
		<-gone
		if _, _, err := to.Children("/"); err != nil {
			b.Error(err)
		}
		done <- time.Now()
	}()
	time.Sleep(20 * time.Millisecond) // as the other
	start := time.Now()
	must(from.Delete(path, -1))
	return (<-done).Sub(start)
}

// BenchmarkLeaderDies cuts a leader off from the network, which looks like the death of its
// process, and measures the time until another candidate leads: with this package, and with
// Curator's LeaderLatch where Curator and a JDK are installed.
func BenchmarkLeaderDies(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	b.Run("recipes", func(b *testing.B) { leaderDies(b, ctx, ourElections{}) })
	b.Run("curator", func(b *testing.B) { leaderDies(b, ctx, newCuratorElections(b, ctx)) })
}

func leaderDies(b *testing.B, ctx context.Context, of electionsOf) {
	conn := benchClient(b, ctx, addrsOf(b)).Conn()
	next := of.open(b, ctx, addrsOf(b))
	var took []time.Duration
	for b.Loop() {
		var list []string
		var all []links.Link
		for _, s := range serversOf(b).Servers() {
			l, err := network.Link(ctx, fmt.Sprintf("%s-%d", b.Name(), nextID.Add(1)), s.Addr)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			list, all = append(list, l.Addr()), append(all, l)
		}
		path := fmt.Sprintf("/bench-dies-%d", nextID.Add(1))
		leader := of.open(b, ctx, list)
		if _, err := leader.lead(ctx, path); err != nil {
			b.Fatal(err)
		}
		elected := queuesUp(b, ctx, next, conn, path)
		start := time.Now()
		for _, l := range all {
			if err := l.Cut(ctx, links.Down); err != nil {
				b.Fatal(err)
			}
		}
		took = append(took, (<-elected).Sub(start)-leader.sessionTimeout())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(median(took))/1e6, "median-ms-after-timeout")
	b.ReportMetric(float64(took[len(took)-1])/1e6, "worst-ms-after-timeout")
}
