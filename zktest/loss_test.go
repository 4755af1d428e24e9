package zktest_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// With every kind of cut, the holder is told of its loss before the servers grant its lock to
// another client.
func TestALossIsToldBeforeTheLockIsHandedOn(t *testing.T) {
	for name, fault := range map[string]func(*zktest.Ensemble, *zktest.Client){
		"cut":                 func(_ *zktest.Ensemble, c *zktest.Client) { c.Cut() },
		"cut requests":        func(_ *zktest.Ensemble, c *zktest.Client) { c.CutRequests() },
		"cut replies":         func(_ *zktest.Ensemble, c *zktest.Client) { c.CutReplies() },
		"refuse":              func(_ *zktest.Ensemble, c *zktest.Client) { c.Refuse() },
		"isolate the server":  func(e *zktest.Ensemble, c *zktest.Client) { stay(e, c); e.Isolate(c.Server()) },
		"pause the server":    func(e *zktest.Ensemble, c *zktest.Client) { stay(e, c); e.Pause(c.Server()) },
		"kill the server":     func(e *zktest.Ensemble, c *zktest.Client) { stay(e, c); e.Kill(c.Server()) },
		"leader and then cut": func(e *zktest.Ensemble, c *zktest.Client) { e.Kill(e.Leader()); c.Cut() },
	} {
		for seed := range uint64(8) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := zktest.Start(t, zktest.Seed(seed))
					lease := acquire(t, connect(t, e, "one"), "/l")
					second := connect(t, e, "two")
					time.Sleep(time.Duration(seed) * 100 * time.Millisecond)
					told := make(chan time.Time, 1)
					go func() {
						<-lease.Lost()
						told <- time.Now()
					}()
					fault(e, e.Client("one"))
					next := acquire(t, second, "/l")
					granted := time.Now()
					if lost := <-told; !lost.Before(granted) {
						t.Errorf("told at %v, granted at %v", lost, granted)
					}
					if next.Token().Compare(lease.Token()) <= 0 {
						t.Errorf("token %v behind %v", next.Token(), lease.Token())
					}
				})
			})
		}
	}
}

// stay cuts a client off from all servers except the one that it is connected to.
func stay(e *zktest.Ensemble, c *zktest.Client) {
	at := c.Server()
	for i := range e.Servers() {
		if i+1 != at {
			c.Refuse(i + 1)
		}
	}
}

// A forced expiry comes without a warning: the loss is told within a heartbeat.
func TestAForcedExpiryIsToldWithinAHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		lease := acquire(t, connect(t, e, "one"), "/l")
		if lease.SessionID() != e.Client("one").Session() {
			t.Fatalf("session %#x is known as %#x", lease.SessionID(), e.Client("one").Session())
		}
		ended := time.Now()
		e.Client("one").Expire()
		if held := e.Children("/l"); len(held) != 0 {
			t.Errorf("the servers still have %v", held)
		}
		<-lease.Lost()
		if took := time.Since(ended); took > timeout/6+10*time.Millisecond {
			t.Errorf("told after %v", took)
		}
		if err := lease.Err(); !errors.Is(err, recipes.LossSessionExpired) {
			t.Error(err)
		}
		e.Expire(lease.SessionID()) // again, without effect
	})
}
