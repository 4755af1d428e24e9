package hold

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
)

// nested is a lease that knows its depth, and that notes its release.
type nested struct {
	fakeLease
	token    int64
	depth    int
	released func(int)
}

func (n *nested) Token() histories.Token { return histories.Token{Zxid: n.token} }
func (n *nested) Depth() int             { return n.depth }
func (n *nested) Release(ctx context.Context) error {
	if n.released != nil {
		n.released(n.depth)
	}
	return ctx.Err()
}

// called is the answer to one of two calls.
type called struct {
	after time.Duration // 0: never, until its context ends
	lease lock.Lease
	err   error
}

func (a called) answer(ctx context.Context) (lock.Lease, error) {
	lock.Enqueued(ctx, lock.Place{Token: histories.Token{Zxid: 1}})
	if a.after == 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	time.Sleep(a.after)
	return a.lease, a.err
}

// inMemory returns a client, and a function that returns what it has recorded, each event as its type,
// operation, mode and depth.
func inMemory(t *testing.T, seed int64) (*client.Client, func() []string) {
	var written bytes.Buffer
	rec, err := histories.NewRecorder(&written, histories.Header{})
	if err != nil {
		t.Fatal(err)
	}
	r := &client.Shared{Seed: seed, Clients: 1, SessionTimeout: time.Second, Life: t.Context(), Faults: journal.NewCoverage(nil, nil), Counters: map[string]*client.Counters{"a": new(client.Counters)}}
	r.Journal = &journal.Journal{Recorder: rec, Refuse: func(err error) { t.Error(err) }}
	return client.New(r, 0), func() (all []string) {
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := histories.Decode(&written)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range got.Events {
			if e.Op != histories.Read && e.Op != histories.Write {
				all = append(all, fmt.Sprint(e.Type, " ", e.Mode, e.Depth))
			}
		}
		return all
	}
}

func TestOfTwoCallsTheHistoryHasOneAtATime(t *testing.T) {
	const ms = time.Millisecond
	outer, inner, refused := func() lock.Lease { return &nested{token: 7, depth: 1} }, func() lock.Lease { return &nested{token: 7, depth: 2} }, errors.New("refused")
	reads := func() lock.Lease { return &nested{token: 8, depth: 1} }
	for name, test := range map[string]struct {
		first, second called
		mode          histories.Mode // of the second
		want          []string
		levels        int // of the hold, 0 for none
		both          bool
	}{
		"the second enters": {called{2 * ms, outer(), nil}, called{4 * ms, inner(), nil}, "", []string{"invoke 0", "enqueued 0", "enqueued 0", "ok 1", "invoke 0", "ok 2"}, 2, false},
		"the first enters":  {called{4 * ms, inner(), nil}, called{5 * ms, outer(), nil}, "", []string{"invoke 0", "enqueued 0", "enqueued 0", "ok 1", "invoke 0", "ok 2"}, 2, false},
		"the first fails":   {called{2 * ms, nil, refused}, called{4 * ms, outer(), nil}, "", []string{"invoke 0", "enqueued 0", "enqueued 0", "ok 1", "invoke 0", "fail 0"}, 1, false},
		"both fail":         {called{2 * ms, nil, refused}, called{4 * ms, nil, refused}, "", []string{"invoke 0", "enqueued 0", "enqueued 0", "fail 0", "invoke 0", "fail 0"}, 0, false},
		"the second waits":  {called{2 * ms, outer(), nil}, called{}, "", []string{"invoke 0", "enqueued 0", "enqueued 0", "ok 1", "invoke 0", "fail 0"}, 1, false},
		"in another mode, and the second fails first": {called{9 * ms, outer(), nil}, called{2 * ms, nil, refused}, histories.ModeRead, []string{"invoke 0", "enqueued 0", "ok 1", "invoke read0", "fail read0"}, 1, false},
		"in another mode": {called{9 * ms, outer(), nil}, called{20 * ms, reads(), nil}, histories.ModeRead, []string{"invoke 0", "enqueued 0", "ok 1", "invoke read0", "ok read1"}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, record := inMemory(t, 1)
				claim := func(a called, mode histories.Mode) Claim {
					return Claim{Event: histories.Event{Lock: "a", Mode: mode}, Acquire: a.answer}
				}
				h, other, err := AcquireBoth(t.Context(), c, claim(test.first, ""), claim(test.second, test.mode), ms)
				if (h != nil) != (test.levels > 0) || h != nil && len(h.Levels()) != test.levels || (other != nil) != test.both || (err != nil) != (h == nil) {
					t.Errorf("got %v, %v, %v", h, other, err)
				}
				for _, h := range []*Hold{h, other} {
					if h != nil {
						close(h.done)
					}
				}
				c.Background.Wait()
				if got := record(); !reflect.DeepEqual(got, test.want) {
					t.Errorf("on record: %q, want %q", got, test.want)
				}
			})
		})
	}
}

// keeping is a locker that keeps holds by their owner.
type keeping struct {
	lock.Locker
	lock.Reenterer
}

func (keeping) KeepsByOwner() {}

// The lock is held until the last lease is given back, in any order if the lock says so.
func TestNestedLeasesAreReleasedInAnyOrderOfALockThatKeepsThemByOwner(t *testing.T) {
	for name, again := range map[string]lock.Reenterer{"by owner": keeping{}, "any other": nil} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for seed := range int64(20) {
				c, record := inMemory(t, seed)
				var order []int
				var levels []lock.Lease
				for depth := range 3 {
					levels = append(levels, &nested{depth: depth + 1, released: func(n int) { order = append(order, n) }})
				}
				h := New(c, histories.Event{Type: histories.OK, Op: histories.Acquire, Lock: "a", Depth: 1}, levels[0])
				h.Again = again
				h.ReleaseAll(levels, cycle.Plan{})
				c.Background.Wait()
				if got := record(); !reflect.DeepEqual(got, []string{"invoke 3", "ok 3", "invoke 2", "ok 2", "invoke 1", "ok 1"}) {
					t.Fatalf("on record: %q", got)
				}
				seen[fmt.Sprint(order)] = true
			}
			if (len(seen) > 1) != (again != nil) || again == nil && !seen["[3 2 1]"] {
				t.Errorf("orders: %v", seen)
			}
		})
	}
}

// A process whose owner asks for the lock while it gives it back goes on, and gets another hold.
func TestAnOwnerAsksForTheLockThatItGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, record := inMemory(t, 1)
		for stays := false; !stays; { // one in a dozen does
			h := New(c, histories.Event{Type: histories.OK, Op: histories.Acquire, Lock: "a", Depth: 1}, &nested{depth: 1})
			c.AddHold(h.Holding)
			h.Next = &Claim{Event: histories.Event{Lock: "a"}, Acquire: called{time.Millisecond, &nested{depth: 1}, nil}.answer}
			h.ReleaseAll(h.Levels(), cycle.Plan{})
			stays = h.stays
		}
		c.Background.Wait()
		got, want := record(), []string{"invoke 1", "fail 1", "invoke 0", "enqueued 0", "ok 1", "invoke 1", "ok 1"}
		if len(got) < len(want) || !reflect.DeepEqual(got[len(got)-len(want):], want) || c.Current() != 0 {
			t.Errorf("on record: %q", got)
		}
	})
}
