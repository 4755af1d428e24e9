package interop_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// bothElections runs a test with LeaderLatch and with LeaderSelector.
func bothElections(t *testing.T, test func(t *testing.T, kind string, options []recipes.LockOption)) {
	t.Run("LeaderLatch", func(t *testing.T) { test(t, "latch", nil) })
	t.Run("LeaderSelector", func(t *testing.T) {
		test(t, "selector", []recipes.LockOption{recipes.WithLeaderSelector()})
	})
}

// elects makes a campaign that is expected to succeed.
func elects(t *testing.T, e *recipes.Election) *recipes.Lease {
	t.Helper()
	term, err := e.Campaign(within(t))
	must(t, err)
	t.Cleanup(func() { _ = term.Release(context.Background()) })
	return term
}

// leadsNot makes a campaign that is expected to wait, and withdraws.
func leadsNot(t *testing.T, e *recipes.Election) {
	t.Helper()
	ctx, cancel := context.WithTimeout(within(t), 300*time.Millisecond)
	defer cancel()
	if term, err := e.Campaign(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("there are two leaders: %v, %v", term, err)
	}
}

func TestElectionHasOneLeaderForBoth(t *testing.T) {
	bothElections(t, func(t *testing.T, kind string, options []recipes.LockOption) {
		path := uniquePath(t)
		ours, theirs := recipes.NewElection(goClient(t), path, options...), curatorClient(t)
		for i := range 3 {
			term := elects(t, ours)
			name := string(rune('a' + i))
			theirs.do(kind, name, path, "theirs")
			if theirs.do("campaign", name, 300).Done || theirs.do("leads", name).Done {
				t.Fatal("there are two leaders")
			}
			must(t, term.Release(within(t)))
			if !theirs.do("campaign", name).Done || !theirs.do("leads", name).Done {
				t.Fatal("Curator does not lead")
			}
			leadsNot(t, ours)
			theirs.do("resign", name)
		}
	})
}

func TestElectionServesBothInTheOrderOfTheirArrival(t *testing.T) {
	bothElections(t, func(t *testing.T, kind string, options []recipes.LockOption) {
		path, conn := uniquePath(t), admin(t)
		ours, theirs := recipes.NewElection(goClient(t), path, options...), curatorClient(t)
		first := elects(t, ours)
		theirs.do(kind, "c", path, "second")
		second := theirs.start("campaign", "c")
		queued(t, conn, path, 2)
		third := make(chan *recipes.Lease)
		go func() {
			term, err := recipes.NewElection(goClient(t), path, options...).Campaign(within(t))
			if err != nil {
				t.Error(err)
			}
			third <- term
		}()
		queued(t, conn, path, 3)
		must(t, first.Release(within(t)))
		theirs.answer(second)
		select {
		case term := <-third:
			t.Fatalf("%v leads as well", term)
		case <-time.After(200 * time.Millisecond):
		}
		theirs.do("resign", "c")
		if term := <-third; term != nil {
			if term.Token().Compare(first.Token()) <= 0 {
				t.Errorf("term %v after %v", term.Token(), first.Token())
			}
			must(t, term.Release(within(t)))
		}
	})
}

// The data that a candidate announces is Curator's id.
func TestElectionIsSeenAlikeByBoth(t *testing.T) {
	bothElections(t, func(t *testing.T, kind string, options []recipes.LockOption) {
		path, conn := uniquePath(t), admin(t)
		ours := recipes.NewElection(goClient(t), path, append(options, recipes.WithData([]byte("ours:80")))...)
		theirs := curatorClient(t)
		next, stop := iter.Pull2(recipes.NewElection(goClient(t), path, options...).Observe(within(t)))
		defer stop()
		leads := func(want string) {
			t.Helper()
			p, err, _ := next()
			must(t, err)
			if string(p.Data) != want {
				t.Fatalf("%q leads, want %q", p.Data, want)
			}
		}
		leads("")
		term := elects(t, ours)
		leads("ours:80")
		theirs.do(kind, "c", path, "theirs:80")
		campaign := theirs.start("campaign", "c")
		queued(t, conn, path, 2)
		if got := theirs.answer(theirs.startOn("another thread", "leader", "c")).Data; !slices.Equal(got, []string{"ours:80"}) {
			t.Errorf("Curator says that %q leads", got)
		}
		if got := theirs.answer(theirs.startOn("another thread", "candidates", "c")).Data; !slices.Equal(got, []string{"ours:80", "theirs:80"}) {
			t.Errorf("Curator lists %q", got)
		}
		all, err := ours.Participants(within(t))
		must(t, err)
		if len(all) != 2 || string(all[0].Data) != "ours:80" || string(all[1].Data) != "theirs:80" {
			t.Errorf("we list %+v", all)
		}
		must(t, term.Release(within(t)))
		theirs.answer(campaign)
		leads("theirs:80")
		if p, err := ours.Leader(within(t)); err != nil || string(p.Data) != "theirs:80" {
			t.Errorf("we say that %q leads, %v", p.Data, err)
		}
		theirs.do("resign", "c")
		leads("")
	})
}
