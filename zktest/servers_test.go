package zktest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/zktest"
)

func TestAnotherServerLeadsWhenTheLeaderIsGone(t *testing.T) {
	for name, remove := range map[string]func(*zktest.Ensemble, int){
		"killed":   (*zktest.Ensemble).Kill,
		"paused":   (*zktest.Ensemble).Pause,
		"isolated": (*zktest.Ensemble).Isolate,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				old := e.Leader()
				remove(e, old)
				time.Sleep(10 * tick)
				if now := e.Leader(); now == old {
					t.Errorf("server %d still leads", now)
				}
				acquire(t, connect(t, e, "one"), "/l")
			})
		})
	}
}

func TestAServerThatWasGoneServesAgain(t *testing.T) {
	for name, fault := range map[string]struct{ remove, restore func(*zktest.Ensemble, int) }{
		"killed":   {(*zktest.Ensemble).Kill, (*zktest.Ensemble).Restart},
		"paused":   {(*zktest.Ensemble).Pause, (*zktest.Ensemble).Resume},
		"isolated": {(*zktest.Ensemble).Isolate, func(e *zktest.Ensemble, _ int) { e.Heal() }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				gone := e.Leader()
				for i := range e.Servers() {
					if i+1 != gone {
						e.Client("late").Refuse(i + 1) // it can only connect to the server that was down
					}
				}
				fault.remove(e, gone)
				time.Sleep(10 * tick)
				acquire(t, connect(t, e, "one"), "/l")
				fault.restore(e, gone)
				for i := range e.Servers() {
					if i+1 != gone {
						e.Client("late").Refuse(i + 1) // Heal has healed it too
					}
				}
				acquire(t, connect(t, e, "late"), "/m")
				if at := e.Client("late").Server(); at != gone {
					t.Errorf("the client is at server %d, not %d", at, gone)
				}
			})
		})
	}
}

func TestTheTreeIsThatOfTheServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		lease := acquire(t, connect(t, e, "one"), "/a/b")
		n, there := e.Node(lease.Node())
		if !there || n.Session != lease.SessionID() || n.Czxid != lease.Token().Zxid {
			t.Errorf("the lock's node is %+v, %v", n, there)
		}
		if got := e.Children("/a"); len(got) != 1 || got[0] != "b" {
			t.Errorf("/a has %v", got)
		}
		if got := e.Tree("/a"); strings.Count(got, "\n") != 3 || !strings.HasPrefix(got, "/a\n/a/b\n/a/b/_c_") {
			t.Errorf("the tree is\n%s", got)
		}
		if _, there := e.Node("/none"); there || e.Children("/none") != nil || e.Tree("/none") != "" {
			t.Error("there is a node that no client has created")
		}
	})
}

func TestTheSameSeedTakesTheSameTime(t *testing.T) {
	election := func(seed uint64) (took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			e := zktest.Start(t, zktest.Seed(seed))
			began := time.Now()
			e.Kill(e.Leader())
			e.Leader()
			took = time.Since(began)
		})
		return took
	}
	all := map[time.Duration]bool{}
	for seed := range uint64(20) {
		one, two := election(seed), election(seed)
		if one != two {
			t.Errorf("with seed %d an election takes %v, and then %v", seed, one, two)
		}
		all[one] = true
	}
	if len(all) < 10 {
		t.Errorf("20 seeds make %d different elections", len(all))
	}
}

func TestEnsemblesOfEverySize(t *testing.T) {
	for _, n := range []int{1, 2, 5, 9} {
		synctest.Test(t, func(t *testing.T) {
			e := zktest.Start(t, zktest.Servers(n), zktest.Version("3.9.6"))
			if len(e.Servers()) != n {
				t.Errorf("%d servers: %v", n, e.Servers())
			}
			lease := acquire(t, connect(t, e, "one"), "/l")
			time.Sleep(3 * timeout)
			if !lease.Valid() {
				t.Errorf("with %d servers the lease is lost: %v", n, lease.Err())
			}
		})
	}
}

// The first election takes time of the servers, but no time of the test.
func TestTheServersClockIsThatOfTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		conn, _, err := zk.Connect(e.Servers(), 4*time.Second, zk.WithDialer(e.Client("one").DialTimeout), zk.WithLogInfo(false))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		before := time.Now()
		if _, err := conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		_, stat, err := conn.Get("/a")
		if err != nil {
			t.Fatal(err)
		}
		if at := time.UnixMilli(stat.Ctime); at.Before(before.Truncate(time.Millisecond)) || at.After(time.Now()) {
			t.Errorf("made at %v, between %v and %v", at, before, time.Now())
		}
	})
}
