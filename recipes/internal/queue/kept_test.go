package queue

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
	"github.com/zkverify/zkverify/zktest"
)

// A client may use locks and semaphores without number: no queue is kept of what it has given
// back.
func TestWhatIsGivenBackLeavesItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		keeper, err := session.Start(session.Config{
			Callbacks: new(session.Callbacks),
			Servers:   e.Servers(), Timeout: 4 * time.Second, MaxPacket: 1 << 20, ACL: zk.WorldACL(zk.PermAll),
			Dial: e.Client("one").DialContext, Clock: session.MachineClock(), Told: func(session.State) {},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer keeper.Wait()
		defer keeper.Close()
		s, err := keeper.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pool := &Pool{Path: "/semaphore", Size: 3, ACL: zk.WorldACL(zk.PermAll)}
		for name, take := range map[string]func() (Grant, error){
			"permits": func() (Grant, error) { return pool.Contend(t.Context(), s, 2, true, func(*Contender) {}) },
			"a lock": func() (Grant, error) {
				c := NewContender(s, Entry{Dir: "/lock", Kinds: Locks, Kind: Lock, Rule: Exclusive, ACL: zk.WorldACL(zk.PermAll)})
				if err := c.Enqueue(t.Context()); err != nil {
					return Grant{}, err
				}
				return c.Grant(), c.Wait(t.Context(), true)
			},
		} {
			on, err := take()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if n := kept(s); n != 1 {
				t.Errorf("%s: %d queues are kept of 1 that is used", name, n)
			}
			if err := on.Release(true); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if n := kept(s); n != 0 {
				t.Errorf("%s: %d queues are kept that nobody uses", name, n)
			}
		}
	})
}

func kept(s *session.Session) int {
	l := localQueuesOf(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}
