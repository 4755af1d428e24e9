package checker

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// ending is a context that ends after a number of checks whether it has ended.
type ending struct {
	context.Context
	asked atomic.Int64
	after int64
}

func (c *ending) Err() error {
	if c.asked.Add(1) > c.after {
		return context.Canceled
	}
	return nil
}

// TestJudgesOfALargeWindowStop judges one lock with very many operations in one instant, which
// is one window. The judges check every few steps whether to stop, and when they must stop they
// do so within a few more steps. The test counts the checks: each loop without checks makes
// their number n/256 smaller.
func TestJudgesOfALargeWindowStop(t *testing.T) {
	const n = 2048
	for r, least := range map[histories.Recipe]int64{histories.Mutex: 200, histories.ReadWrite: 190, histories.Semaphore: 140, histories.Revocation: 225, histories.MultiLock: 235} {
		t.Run(string(r), func(t *testing.T) {
			h := grown(dimension{locks: one(r), grow: func(g *grower, n int) {
				for i := range n {
					token := g.newToken()
					g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l", Owner: strconv.Itoa(i)})
					g.grant(i, token)
					g.release(i, "l", token)
				}
			}}, n)
			for i := range h.Events {
				h.Events[i].Time = time.Millisecond
			}
			if err := histories.Validate(h); err != nil {
				t.Fatal(err)
			}
			looks := func(after int64) (int64, error) {
				c := &ending{Context: context.Background(), after: after}
				_, err := CheckEvents(c, h.Header, SourceOf(h).Events, WithEngine(Interval))
				return c.asked.Load(), err
			}
			all, err := looks(1 << 40)
			if err != nil {
				t.Fatal(err)
			}
			reading := int64(len(h.Events)) // each event is preceded by a check
			if all-reading < least {
				t.Fatalf("the judges look %d times, want %d or more: it can take long until they end", all-reading, least)
			}
			for after := reading; after < all; after += (all-reading)/6 + 1 {
				if asked, err := looks(after); !errors.Is(err, context.Canceled) || asked > after+80 {
					t.Fatalf("to end after %d looks of %d: %v after %d more", after, all, err, asked-after)
				}
			}
		})
	}
}
