package promobserver_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
)

// The test causes each condition with clients on simulated servers in virtual time, or on real
// ones. Prometheus evaluates the rules on the metrics that were scraped meanwhile: the alerts of
// the condition fire, no others do, and none fires after a while without a fault.
func TestEachAlertFiresWhenItShould(t *testing.T) {
	ensembletest.EveryNight(t)
	promtool(t)
	for name, test := range map[string]struct {
		condition func(*service)
		fires     []string
	}{
		"all is well":                      {healthy, nil},
		"a session is ended by force":      {lost, []string{"ZkLockLost"}},
		"a link is down for long":          {suspended, []string{"ZkLockSuspended"}},
		"a link is down again and again":   {suspendedOften, []string{"ZkLockSuspendedOften"}},
		"a holder is slow":                 {waitsLong, []string{"ZkLockWaitsLong"}},
		"there are too many clients":       {pileUp, []string{"ZkLockWaitersPileUp"}},
		"acquires give up":                 {giveUp, []string{"ZkLockAcquiresFail"}},
		"a holder is stuck":                {heldLong, []string{"ZkLockHeldLong"}},
		"an orphan is first in a queue":    {nobodyHolds, []string{"ZkLockNobodyHolds", "ZkLockWaitsLong"}},
		"an orphan is the first candidate": {nobodyLeads, []string{"ZkElectionNobodyLeads"}},
		"a holder ignores a request":       {unanswered, []string{"ZkLockRevokeUnanswered"}},
		"a client is cut off":              {disconnected, []string{"ZkClientDisconnected"}},
		"sessions end again and again":     {sessionsLost, []string{"ZkClientSessionsLost"}},
	} {
		t.Run(name, func(t *testing.T) {
			var s *service
			meets := func(servers servers) {
				s = newService(servers)
				test.condition(s)
				s.pass(20 * time.Minute)
			}
			if ensembletest.Simulated(t) {
				synctest.Test(t, func(t *testing.T) { meets(inVirtualTime(t)) })
			} else {
				t.Parallel()
				meets(inRealTime(t))
			}
			s.alerts(t, rules, map[string][]string{firedOnce: test.fires, firingLast: nil})
		})
	}
}

// work makes a client acquire a lock again and again, and hold it for the time hold.
func (s *service) work(client *recipes.Client, path string, hold, pause time.Duration) {
	s.background.Go(func() {
		for s.t.Context().Err() == nil {
			err := recipes.NewMutex(client, path).Do(s.t.Context(), func(context.Context, *recipes.Lease) error {
				s.sleep(hold)
				return nil
			})
			if errors.Is(err, recipes.ErrClosed) {
				return
			}
			s.sleep(pause)
		}
	})
}

// healthy: locks are used, a leader leads and another candidate waits, a link is down for a
// moment, tries are refused, and a client is closed while it has a lock.
func healthy(s *service) {
	one, two := s.connect("one"), s.connect("two")
	s.work(one, "/l", 2*time.Second, 3*time.Second)
	s.work(two, "/l", 2*time.Second, 3*time.Second)
	for _, client := range []*recipes.Client{one, two} {
		s.background.Go(func() { _, _ = recipes.NewElection(client, "/e").Campaign(s.t.Context()) })
	}
	s.pass(10 * time.Minute)
	s.refuse("one")
	s.sleep(time.Second)
	s.heal("one")
	lease := s.acquire(two, "/try")
	for range 5 {
		if _, err := recipes.NewMutex(one, "/try").TryAcquire(s.t.Context()); !errors.Is(err, recipes.ErrNotAcquired) {
			s.t.Error(err)
		}
	}
	s.pass(time.Minute)
	_ = two.Close(s.t.Context()) // with the lease
	if err := lease.Err(); !errors.Is(err, recipes.LossClientClosed) {
		s.t.Error(err)
	}
}

func lost(s *service) {
	lease := s.acquire(s.connect("one"), "/l")
	s.pass(time.Minute)
	s.expire("one")
	<-lease.Lost()
}

func suspended(s *service) {
	lease := s.acquire(s.connect("one", recipes.WithSessionTimeout(s.real(2*time.Minute))), "/l")
	s.pass(time.Minute)
	s.refuse("one")
	s.pass(35 * time.Second)
	s.heal("one")
	s.pass(15 * time.Second)
	_ = lease.Release(s.t.Context())
}

func suspendedOften(s *service) {
	lease := s.acquire(s.connect("one"), "/l")
	for range 6 {
		s.refuse("one")
		s.sleep(time.Second)
		s.heal("one")
		s.pass(30 * time.Second)
	}
	_ = lease.Release(s.t.Context())
}

func waitsLong(s *service) {
	lease, two := s.acquire(s.connect("one"), "/l"), s.connect("two")
	s.work(two, "/l", time.Second, time.Minute)
	s.pass(2 * time.Minute)
	_ = lease.Release(s.t.Context())
}

func pileUp(s *service) {
	client := s.connect("one")
	ctx, cancel := context.WithCancel(s.t.Context())
	for range 15 {
		s.background.Go(func() {
			for ctx.Err() == nil {
				_ = recipes.NewMutex(client, "/l").Do(ctx, func(context.Context, *recipes.Lease) error {
					s.sleep(2 * time.Second)
					return nil
				})
			}
		})
	}
	s.pass(4 * time.Minute)
	cancel()
}

func giveUp(s *service) {
	lease, two := s.acquire(s.connect("one"), "/l"), s.connect("two")
	for range 12 {
		ctx, cancel := context.WithTimeout(s.t.Context(), s.real(5*time.Second))
		if _, err := recipes.NewMutex(two, "/l").Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			s.t.Error(err)
		}
		cancel()
		s.pass(every)
	}
	_ = lease.Release(s.t.Context())
}

func heldLong(s *service) {
	lease := s.acquire(s.connect("one"), "/l")
	s.pass(6 * time.Minute)
	_ = lease.Release(s.t.Context())
}

// orphan creates a node without a session, as a manual create with a tool does.
func (s *service) orphan(path string) (remove func()) {
	s.t.Helper()
	conn := s.connectApart("tool").Conn()
	for _, dir := range []string{s.root, s.root + path[:2]} {
		if _, err := conn.CreateContainer(dir, nil, zk.FlagContainer, zk.WorldACL(zk.PermAll)); err != nil && dir != s.root {
			s.t.Fatal(err)
		}
	}
	node, err := conn.Create(s.root+path, nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		s.t.Fatal(err)
	}
	return func() { _ = conn.Delete(node, -1) }
}

func nobodyHolds(s *service) {
	remove := s.orphan("/l/lock-")
	s.work(s.connect("one"), "/l", time.Second, time.Minute)
	s.pass(3 * time.Minute)
	remove()
}

func nobodyLeads(s *service) {
	remove := s.orphan("/e/latch-")
	client := s.connect("one")
	s.background.Go(func() { _, _ = recipes.NewElection(client, "/e").Campaign(s.t.Context()) })
	s.pass(3 * time.Minute)
	remove()
}

func unanswered(s *service) {
	lease := s.acquire(s.connect("one"), "/l")
	lease.OnRevoke(func(*recipes.Lease) {}) // and does not release
	s.pass(time.Minute)
	if err := s.connectApart("operator").Revoke(s.t.Context(), lease.Node()); err != nil {
		s.t.Fatal(err)
	}
	s.pass(3 * time.Minute)
	_ = lease.Release(s.t.Context())
}

func disconnected(s *service) {
	s.connect("one")
	s.pass(time.Minute)
	s.refuse("one")
	s.pass(3 * time.Minute)
	s.heal("one")
}

func sessionsLost(s *service) {
	s.connect("one")
	for range 5 {
		s.pass(time.Minute)
		s.expire("one")
	}
}
