package hold

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// A fault that has chosen a holder keeps it until it strikes, however short the hold was to be.
func TestAHolderThatIsKeptHoldsOn(t *testing.T) {
	for name, kept := range map[string]bool{"kept": true, "not kept": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, record := heldInMemory(t, histories.Event{Type: histories.OK, Op: histories.Acquire, Lock: "x", Depth: 1})
				h.Client.Run.Counters = map[string]*client.Counters{"x": new(client.Counters)}
				h.Client.AddHold(h.Holding)
				if h.Client.Keep(time.Minute) {
					t.Error("a client is kept that has not begun to linger")
				}
				if kept {
					go func() { // ends before the hold
						time.Sleep(time.Millisecond)
						if !h.Client.Keep(time.Minute) {
							t.Error("a holder that lingers is not kept")
						}
					}()
				}
				began := time.Now()
				h.Linger(t.Context(), []lock.Lease{h.Lease}, cycle.Plan{Hold: 2 * time.Millisecond, HoldOn: time.Second})
				if took := time.Since(began); kept != (took >= time.Minute) {
					t.Errorf("the hold took %v", took)
				}
				if h.Client.Keep(time.Minute) {
					t.Error("a client is kept whose hold is over")
				}
				record()
			})
		})
	}
}

// slow is a lease whose release takes a while, with a deadline that a server's answer moves on meanwhile.
type slow struct {
	fakeLease
	takes    time.Duration
	deadline time.Time
}

func (l *slow) Deadline() time.Time { return l.deadline }

func (l *slow) Release(context.Context) error {
	time.Sleep(l.takes)
	l.deadline = l.deadline.Add(time.Second)
	return nil
}

// A release that goes on after the deadline of its lease is late, as after the end of its context.
func TestAReleaseIsLateFromTheDeadlineOn(t *testing.T) {
	for name, test := range map[string]struct{ left, takes, want time.Duration }{
		"it waits for longer":        {time.Second, 5 * time.Second, 3 * time.Second},
		"it returns at the deadline": {time.Second, 2 * time.Second, 0},
		"the deadline had passed":    {-time.Minute, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, record := heldInMemory(t, histories.Event{Type: histories.OK, Op: histories.Acquire, Lock: "x", Depth: 1})
				h.Client.AddHold(h.Holding)
				h.release(t.Context(), &slow{takes: test.takes, deadline: time.Now().Add(test.left)}, 1)
				if all := record(); all[len(all)-1].Late != test.want {
					t.Errorf("recorded %+v", all[len(all)-1])
				}
			})
		})
	}
}
