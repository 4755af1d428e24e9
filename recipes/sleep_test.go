package recipes_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/internal/session"
	"github.com/zkverify/zkverify/recipes/internal/sleeper"
	"github.com/zkverify/zkverify/zktest"
)

// sleeping runs a test in a bubble, with a client whose machine the test can put to sleep.
func sleeping(t *testing.T, test func(*testing.T, *zktest.Ensemble, *sleeper.Clock, *recipes.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, clock := zktest.Start(t), new(sleeper.Clock)
		test(t, e, clock, sleepingClient(t, e, clock))
	})
}

func sleepingClient(t *testing.T, e *zktest.Ensemble, clock *sleeper.Clock, options ...recipes.Option) *recipes.Client {
	t.Helper()
	options = append([]recipes.Option{recipes.WithDialer(e.Client("sleeper").DialContext),
		recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick)}, options...)
	c, err := recipes.Connect(session.WithClock(t.Context(), clock), e.Servers(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// sleepThrough makes the machine sleep while time passes for the servers. No packet reaches the
// machine before its goroutines have run after the sleep.
func sleepThrough(e *zktest.Ensemble, clock *sleeper.Clock, d time.Duration) {
	e.Client("sleeper").Cut()
	e.Advance(d)
	clock.Sleep(d)
}

func TestALeaseIsLostWhenItsMachineHasSleptPastTheDeadline(t *testing.T) {
	sleeping(t, func(t *testing.T, e *zktest.Ensemble, clock *sleeper.Clock, c *recipes.Client) {
		m := recipes.NewMutex(c, "/l")
		l := acquire(t, t.Context(), m)
		inner := acquire(t, l.Context(), m)
		time.Sleep(2 * timeout) // the lease depends on heartbeats now

		sleepThrough(e, clock, 2*timeout)
		woke := time.Now()
		if l.Valid() || inner.Valid() || l.State() != recipes.Lost || !errors.Is(l.Err(), recipes.ErrLeaseLost) || !strings.HasSuffix(l.Err().Error(), ": "+string(recipes.LossProcessPaused)) {
			t.Errorf("at waking: valid %v, inner %v, state %v, %v", l.Valid(), inner.Valid(), l.State(), l.Err())
		}
		if !l.Deadline().Before(woke) {
			t.Errorf("it wakes %v before its deadline", l.Deadline().Sub(woke))
		}
		if _, err := m.Acquire(l.Context()); !errors.Is(err, recipes.ErrLeaseLost) {
			t.Errorf("a re-entry: %v", err)
		}
		<-l.Lost()
		if after := time.Since(woke); after > 100*time.Millisecond {
			t.Errorf("it is told %v after waking", after)
		}
		if !errors.Is(l.Err(), recipes.LossProcessPaused) || !errors.Is(context.Cause(l.Context()), recipes.ErrLeaseLost) {
			t.Errorf("%v, cause %v", l.Err(), context.Cause(l.Context()))
		}
		e.Heal()
		next := acquire(t, t.Context(), recipes.NewMutex(bubbleClient(t, e, "other"), "/l"))
		if next.Token().Compare(l.Token()) <= 0 {
			t.Errorf("token %v after %v", next.Token(), l.Token())
		}
		if err := l.Release(t.Context()); !errors.Is(err, recipes.ErrLeaseLost) {
			t.Errorf("release: %v", err)
		}
		if !next.Valid() {
			t.Error("the release took the next one's lock")
		}
	})
}

// A release that comes before the deadline's timer is no release of a lock that was held.
func TestALeaseReleasedAfterASleepPastItsDeadlineIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, clock := zktest.Start(t), new(sleeper.Clock)
		var told []string
		c := sleepingClient(t, e, clock, recipes.WithObserver(recipes.Observer{
			Lost:     func(*recipes.Lease, recipes.LossReason, time.Duration) { told = append(told, "lost") },
			Released: func(*recipes.Lease, time.Duration) { told = append(told, "released") },
		}))
		l := acquire(t, t.Context(), recipes.NewMutex(c, "/l"))
		time.Sleep(2 * timeout)

		sleepThrough(e, clock, 2*timeout)
		if err := l.Release(t.Context()); !errors.Is(err, recipes.ErrLeaseLost) {
			t.Errorf("release: %v", err)
		}
		if l.State() != recipes.Lost || !errors.Is(l.Err(), recipes.LossProcessPaused) || !errors.Is(context.Cause(l.Context()), recipes.ErrLeaseLost) {
			t.Errorf("state %v, %v, cause %v", l.State(), l.Err(), context.Cause(l.Context()))
		}
		select {
		case <-l.Lost():
		default:
			t.Error("Lost is open")
		}
		e.Heal()
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if !slices.Equal(told, []string{"lost"}) {
			t.Errorf("the observer is told %q", told)
		}
	})
}

func TestALeaseOutlivesASleepThatEndsBeforeTheDeadline(t *testing.T) {
	const short = timeout / 4
	t.Run("and goes on when the servers are heard of", func(t *testing.T) {
		sleeping(t, func(t *testing.T, e *zktest.Ensemble, clock *sleeper.Clock, c *recipes.Client) {
			l := acquire(t, t.Context(), recipes.NewMutex(c, "/l"))
			for range 5 {
				time.Sleep(timeout)
				before := l.Deadline()
				sleepThrough(e, clock, short)
				if got := before.Sub(l.Deadline()); got != short {
					t.Errorf("the deadline came closer by %v", got)
				}
				e.Heal()
			}
			if !l.Valid() || l.State() != recipes.Held {
				t.Errorf("valid %v, state %v", l.Valid(), l.State())
			}
			release(t, l)
		})
	})
	t.Run("and is lost at the deadline when they are not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e, clock, heard := zktest.Start(t), new(sleeper.Clock), listen()
			c := sleepingClient(t, e, clock, recipes.WithConnectionListener(heard.told))
			l := acquire(t, t.Context(), recipes.NewMutex(c, "/l"))
			time.Sleep(2 * timeout)
			heard.next(t, recipes.ConnConnected)
			e.Client("sleeper").Refuse()
			heard.next(t, recipes.ConnSuspended)
			due := l.Deadline().Add(-short)
			clock.Sleep(short)
			<-l.Lost()
			if late := time.Since(due); late < 0 || late > 100*time.Millisecond {
				t.Errorf("lost %v after the deadline", late)
			}
			heard.next(t, recipes.ConnLost)
			if late := time.Since(due); late > 100*time.Millisecond {
				t.Errorf("the client counts as lost %v after the deadline", late)
			}
		})
	})
}

// A client without leases has no lease deadline: its listener is told of the loss when its
// session may have ended.
func TestAClientThatSleepsInASuspensionIsToldOfTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, clock, heard := zktest.Start(t), new(sleeper.Clock), listen()
		sleepingClient(t, e, clock, recipes.WithConnectionListener(heard.told))
		e.Client("sleeper").Refuse()
		heard.next(t, recipes.ConnConnected, recipes.ConnSuspended)
		clock.Sleep(2 * timeout)
		woke := time.Now()
		heard.next(t, recipes.ConnLost)
		if after := time.Since(woke); after > 100*time.Millisecond {
			t.Errorf("it is told %v after waking", after)
		}
	})
}

// A heartbeat that is answered after a sleep was sent before it: it proves the session only until
// the time when it was sent.
func TestAHeartbeatUnderWayInASleepProvesNothingOfIt(t *testing.T) {
	const short = timeout / 4
	synctest.Test(t, func(t *testing.T) {
		e, clock := zktest.Start(t), new(sleeper.Clock)
		wire := intercept{through: e.Client("sleeper").DialContext}
		c := sleepingClient(t, e, clock, recipes.WithDialer(wire.dial))
		l := acquire(t, t.Context(), recipes.NewMutex(c, "/l"))
		time.Sleep(2 * timeout)
		sent, wake, passed := make(chan time.Time, 1), make(chan struct{}), make(chan struct{})
		wire.on(func(op int32) bool {
			if op == opBeat {
				select {
				case sent <- time.Now():
				default:
				}
			}
			return true
		}, func(op int32) bool {
			if op == opBeat {
				<-wake
				close(passed)
				wire.on(nil, nil)
			}
			return true
		})
		at := <-sent
		synctest.Wait() // its answer is held back
		clock.Sleep(short)
		close(wake)
		<-passed
		synctest.Wait()
		if latest := at.Add(timeout - timeout/20 - short); l.Deadline().After(latest) {
			t.Errorf("the deadline is %v later than the heartbeat proves", l.Deadline().Sub(latest))
		}
		if !l.Valid() {
			t.Error("the lease is lost")
		}
	})
}

// The turn of a waiter comes while its machine sleeps, and is lost with its session.
func TestAWaiterWhoseTurnWasSleptThroughWaitsAgain(t *testing.T) {
	sleeping(t, func(t *testing.T, e *zktest.Ensemble, clock *sleeper.Clock, c *recipes.Client) {
		holder := bubbleClient(t, e, "holder")
		first := acquire(t, t.Context(), recipes.NewMutex(holder, "/l"))
		waiting := acquiring(t.Context(), recipes.NewMutex(c, "/l"))
		time.Sleep(timeout)

		e.Client("sleeper").Cut()
		release(t, first)
		e.Client("sleeper").Expire()
		second := acquire(t, t.Context(), recipes.NewMutex(holder, "/l"))
		clock.Sleep(2 * timeout)
		e.Heal()
		time.Sleep(3 * timeout)
		select {
		case r := <-waiting:
			t.Fatalf("it has the lock, as another client does: %v, %v", r.lease, r.err)
		default:
		}
		release(t, second)
		l := (<-waiting).ok(t)
		if !l.Valid() || l.Token().Compare(second.Token()) <= 0 {
			t.Errorf("valid %v, token %v after %v", l.Valid(), l.Token(), second.Token())
		}
		release(t, l)
	})
}

func TestAlarmsEndWithTheirSessions(t *testing.T) {
	sleeping(t, func(t *testing.T, e *zktest.Ensemble, clock *sleeper.Clock, c *recipes.Client) {
		e.Client("sleeper").Expire()
		l := acquire(t, t.Context(), recipes.NewMutex(c, "/l")) // in the second session
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		<-l.Lost()
		if all, left := clock.Alarms(); all != 2 || left != 0 {
			t.Errorf("%d alarms of two sessions, of which %d are left", all, left)
		}
	})
}

// A fault of the network or of servers is not a pause of the process, however long it lasts.
func TestAFaultOfTheNetworkIsNoPauseOfTheProcess(t *testing.T) {
	for name, fault := range map[string]func(*zktest.Ensemble){
		"nothing passes":          func(e *zktest.Ensemble) { e.Client("sleeper").Cut() },
		"no request passes":       func(e *zktest.Ensemble) { e.Client("sleeper").CutRequests() },
		"no reply passes":         func(e *zktest.Ensemble) { e.Client("sleeper").CutReplies() },
		"connections are refused": func(e *zktest.Ensemble) { e.Client("sleeper").Refuse() },
		"all is late":             func(e *zktest.Ensemble) { e.Client("sleeper").Delay(timeout) },
		"all servers stand still": func(e *zktest.Ensemble) {
			for id := range e.Servers() {
				e.Pause(id + 1)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			sleeping(t, func(t *testing.T, e *zktest.Ensemble, clock *sleeper.Clock, c *recipes.Client) {
				l := acquire(t, t.Context(), recipes.NewMutex(c, "/l"))
				time.Sleep(2 * timeout)
				sleepThrough(e, clock, timeout/4) // a short sleep, which does not cause the loss
				e.Heal()
				time.Sleep(timeout)
				fault(e)
				<-l.Lost()
				if err := l.Err(); !errors.Is(err, recipes.LossDeadlinePassed) {
					t.Error(err)
				}
				e.Client("sleeper").Heal()
			})
		})
	}
}
