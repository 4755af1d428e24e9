package queue

import (
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
	"github.com/zkverify/zkverify/zktest"
)

// A client may use any number of locks and semaphores: no queue is kept after its locks and
// permits are released.
func TestWhatIsGivenBackLeavesItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		s := started(t, e, "one")
		pool := &Pool{Path: "/semaphore", Size: 3, ACL: zk.WorldACL(zk.PermAll)}
		for name, take := range map[string]func() (Grant, error){
			"permits": func() (Grant, error) { return pool.Contend(t.Context(), s, 2, true, func(*Contender) {}) },
			"a lock": func() (Grant, error) {
				c := contender(s)
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
				t.Errorf("%s: %d unused queues are kept", name, n)
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
