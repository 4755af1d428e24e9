package simulated

import (
	"errors"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
)

func peer(t *testing.T) (*Ensemble, *link) {
	t.Helper()
	e, err := Start(t.Context(), ensemble.LocalConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e, e.Peer(1, 2)[0].(*link)
}

func TestALinkBetweenServersIsInTheConditionThatWasAskedForLast(t *testing.T) {
	e, l := peer(t)
	ctx := t.Context()
	is := func(what string, err error, want cluster.Condition) {
		t.Helper()
		var got cluster.Condition
		e.live.Do(func() { got = e.live.Cluster.Link(1, 2).Condition() })
		if err != nil || got != want {
			t.Errorf("%s: %v, and the link is %+v, want %+v", what, err, got, want)
		}
	}
	cuts := map[links.Cut]cluster.Condition{
		links.Down: {Refuse: true}, links.BlackHole: {DropRequests: true, DropReplies: true},
		links.RequestsLost: {DropRequests: true}, links.RepliesLost: {DropReplies: true}, links.Reset: {Reset: true},
	}
	for _, cut := range links.Cuts() {
		is(string(cut), l.Cut(ctx, cut), cuts[cut])
	}
	is("a delay", l.Delay(ctx, 20*time.Millisecond, 5*time.Millisecond), cluster.Condition{Latency: 20 * time.Millisecond, Jitter: 5 * time.Millisecond})
	is("slow replies", l.DelayReplies(ctx, time.Second), cluster.Condition{Latency: time.Second, RepliesOnly: true})
	is("a stall of requests", l.Stall(ctx, true, false), cluster.Condition{HoldRequests: true})
	is("a stall of both", l.Stall(ctx, true, true), cluster.Condition{HoldRequests: true, HoldReplies: true})
	is("1000 bytes a second", l.Throttle(ctx, 1000), cluster.Condition{Rate: 1000})
	is("slices of 10 bytes", l.Slice(ctx, 10, time.Millisecond), cluster.Condition{Slice: 10, Pause: time.Millisecond})
	is("a truncation", l.Truncate(ctx, 250), cluster.Condition{Left: 250})
	is("the end of it", l.Heal(ctx), cluster.Condition{})
}

func TestMistakesWithALinkBetweenServersAreErrors(t *testing.T) {
	_, l := peer(t)
	ctx := t.Context()
	for what, err := range map[string]error{
		"an unknown cut":             l.Cut(ctx, "scissors"),
		"a jitter above the latency": l.Delay(ctx, time.Millisecond, time.Second),
		"a negative latency":         l.DelayReplies(ctx, -1),
		"a stall of nothing":         l.Stall(ctx, false, false),
		"a throttle to nothing":      l.Throttle(ctx, 0),
		"slices of a byte":           l.Slice(ctx, 1, 0),
		"a negative pause":           l.Slice(ctx, 8, -1),
		"a truncation after nothing": l.Truncate(ctx, 0),
	} {
		if err == nil {
			t.Errorf("%s was taken", what)
		}
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := l.Heal(ctx); !errors.Is(err, links.ErrClosed) {
		t.Errorf("Heal after Close: %v", err)
	}
}

func TestAVersionThatCannotBeSimulatedIsRefused(t *testing.T) {
	for _, version := range []string{"3.7.0", "3.9.3", "/usr/share/zookeeper"} {
		if _, err := Start(t.Context(), ensemble.LocalConfig{ZooKeeper: version}); !errors.Is(err, ensemble.ErrNoVersion) {
			t.Errorf("%s: %v", version, err)
		}
	}
}
