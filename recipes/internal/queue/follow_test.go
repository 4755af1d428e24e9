package queue

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
	"github.com/zkverify/zkverify/zktest"
)

// A contender is granted the lock without a list when only the delete of the session's last
// holder lies before its create, and not otherwise.
func TestATurnFollowsAnother(t *testing.T) {
	for name, test := range map[string]struct {
		between func(t *testing.T, other *session.Session)
		follows bool
	}{
		"nothing": {func(*testing.T, *session.Session) {}, true},
		"a write elsewhere": {func(t *testing.T, other *session.Session) {
			if _, err := other.Conn.Create("/elsewhere", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				t.Error(err)
			}
		}, false},
		"another's node": {func(t *testing.T, other *session.Session) {
			if err := contender(other).Enqueue(t.Context()); err != nil {
				t.Error(err)
			}
		}, false},
		"a read": {func(t *testing.T, other *session.Session) {
			if _, _, err := other.Conn.Children("/lock"); err != nil {
				t.Error(err)
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				ours, other := started(t, e, "ours"), started(t, e, "other")
				for range 2 * likelyRuns {
					holds(t, ours)
				}
				test.between(t, other)
				c := contender(ours)
				if err := c.Enqueue(t.Context()); err != nil {
					t.Fatal(err)
				}
				if c.follows() != test.follows {
					t.Errorf("it follows: %v, want %v", c.follows(), test.follows)
				}
				brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				err := c.Wait(brief, true)
				if first := name != "another's node"; (err == nil) != first {
					t.Errorf("it is first: %v; its wait ended with: %v", first, err)
				}
				c.Leave(t.Context())
			})
		})
	}
}

// The delete may be carried out after the create, and the transaction between the creates
// may be another session's.
func TestATurnFollowsNoneWhoseDeleteIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		ours, other := started(t, e, "ours"), started(t, e, "other")
		for range 2 * likelyRuns {
			holds(t, ours)
		}
		holder, theirs, next := contender(ours), contender(other), contender(ours)
		for _, c := range []*Contender{holder, theirs} {
			if err := c.Enqueue(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := holder.Wait(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		next.before = next.q.lines.lastTurn(next.q)
		if err := next.create(t.Context(), func() (string, error) {
			path, err := ours.Conn.Create("/lock/"+session.ProtectedName(next.guid, Lock), nil, zk.FlagEphemeralSequential, next.acl)
			holder.Leave(t.Context()) // its delete is answered before the session has read the answer to the create
			return path, err
		}); err != nil {
			t.Fatal(err)
		}
		if next.Zxid != holder.Zxid+2 {
			t.Fatalf("transactions %d and %d, want one between them", holder.Zxid, next.Zxid)
		}
		v, err := next.q.judge(next, true)
		if err != nil || v.granted {
			t.Errorf("granted while the node of another session stands before it: %+v, %v", v, err)
		}
	})
}

// A client may use any number of locks, so the number of turns that are kept is bounded.
func TestTurnsAreKeptOfSoManyQueues(t *testing.T) {
	s := &session.Session{}
	for i := range 3 * maxTurns {
		q := localQueueOf(s, "/"+string(rune('a'+i)), Locks)
		c := &Contender{q: q, S: s, Zxid: int64(i + 1), atHead: true}
		q.lines.turnEnded(c)
		if q.lines.lastTurn(q).zxid != c.Zxid {
			t.Fatalf("turn %d is not kept", i)
		}
		q.exit()
		if n := len(q.lines.turns); n > maxTurns {
			t.Fatalf("%d turns are kept", n)
		}
	}
}

func contender(s *session.Session) *Contender {
	return NewContender(s, Entry{Dir: "/lock", Kinds: Locks, Kind: Lock, Rule: Exclusive, ACL: zk.WorldACL(zk.PermAll)})
}

// holds takes the lock and releases it.
func holds(t *testing.T, s *session.Session) {
	t.Helper()
	c := contender(s)
	if err := c.Enqueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	c.Leave(t.Context())
}

// started starts a session that ends with the test.
func started(t *testing.T, e *zktest.Ensemble, client string) *session.Session {
	t.Helper()
	keeper, err := session.Start(session.Config{
		Servers: e.Servers(), Timeout: 40 * time.Second, MaxPacket: 1 << 20, ACL: zk.WorldACL(zk.PermAll),
		Dial: e.Client(client).DialContext, Clock: session.MachineClock(), Told: func(session.State) {}, Callbacks: new(session.Callbacks),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keeper.Close(); keeper.Wait() })
	s, err := keeper.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
