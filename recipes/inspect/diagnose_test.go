package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// problems returns findings in short: the problem, the locks, and the number of nodes.
func problems(findings []inspect.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, fmt.Sprintf("%s %s %d", f.Problem, strings.Join(f.Locks, ","), len(f.Nodes)))
	}
	slices.Sort(all)
	return all
}

// diagnose examines everything a minute after it was planted.
func (w *world) diagnose(checks inspect.Checks) []inspect.Finding {
	w.T.Helper()
	checks.Now = time.Now()
	return inspect.Diagnose(w.find("/").Locks, checks)
}

// problem is a set of planted nodes, and the findings expected of them.
type problem struct {
	plant  func(w *world, other *zk.Conn)
	checks inspect.Checks
	want   []string
}

// planted holds each problem, beside similar nodes that are none.
var planted = map[string]problem{
	"locks that are in order": {func(w *world, other *zk.Conn) {
		w.ephemeral("/m/"+curator(1, "lock-", 1), "")
		w.ephemeral("/rw/"+curator(1, "__WRIT__", 1), "")
		w.ephemeral("/rw/"+curator(2, "__READ__", 1), "")
		w.ephemeral("/k/"+kazoo(1, "__lock__", 1), "")
		w.ephemeral("/s/leases/"+curator(1, "lease-", 1), "")
		w.ephemeral("/s/locks/"+curator(1, "lock-", 1), "")
		w.ephemeral("/b/"+curator(1, "", 0)[3:39], "")
		w.persistent("/b/ready", "")
		// The leader waits for a lock of another candidate, which does not wait to lead.
		w.ephemeral("/e/"+curator(1, "latch-", 1), "")
		plant(w, other, "/e/"+curator(2, "latch-", 2), "", zk.FlagEphemeral)
		plant(w, other, "/held/"+curator(1, "lock-", 1), "", zk.FlagEphemeral)
		w.ephemeral("/held/"+curator(2, "lock-", 2), "")
	}, inspect.Checks{Long: time.Hour, Sizes: map[string]int{"/s": 1}}, nil},
	"a persistent contender": {func(w *world, other *zk.Conn) {
		w.persistent("/m/"+curator(1, "lock-", 1), "")
		w.ephemeral("/m/"+curator(2, "lock-", 2), "")
	}, inspect.Checks{}, []string{"persistent-node /m 1"}},
	"a container in a queue, which no session owns either": {func(w *world, other *zk.Conn) {
		w.persistent("/m", "")
		if _, err := w.conn.CreateContainer("/m/"+curator(1, "lock-", 1), nil, zk.FlagContainer, zk.WorldACL(zk.PermAll)); err != nil {
			w.T.Fatal(err)
		}
	}, inspect.Checks{}, []string{"persistent-node /m 1"}},
	"foreign children": {func(w *world, other *zk.Conn) {
		w.ephemeral("/m/"+curator(1, "lock-", 1), "")
		w.persistent("/m/readme", "")
		w.ephemeral("/s/leases/"+curator(1, "lease-", 1), "")
		w.persistent("/s/leases/readme", "")
		w.persistent("/s/locks/readme", "")
		w.ephemeral("/s/locks/"+curator(1, "lock-", 1), "")
		w.ephemeral("/b/"+curator(1, "", 0)[3:39], "")
		w.ephemeral("/b/readme", "")
	}, inspect.Checks{}, []string{"foreign-child /b 1", "foreign-child /m 1", "foreign-child /s 2"}},
	"contenders of two libraries, which do not see each other": {func(w *world, other *zk.Conn) {
		w.ephemeral("/m/"+curator(1, "lock-", 1), "")
		w.ephemeral("/m/"+curator(2, "lock-", 3), "")
		w.ephemeral("/m/"+kazoo(1, "__lock__", 2), "")
	}, inspect.Checks{}, []string{"foreign-child /m 1"}},
	"more permits than there are": {func(w *world, other *zk.Conn) {
		for i := range 3 {
			w.ephemeral("/s/leases/"+curator(i, "lease-", i), "")
		}
	}, inspect.Checks{Sizes: map[string]int{"/s": 2}}, []string{"above-size /s 3"}},
	"a waiter of Curator has a node among the permits": {func(w *world, other *zk.Conn) {
		for i := range 2 {
			w.ephemeral("/s/leases/"+curator(i, "lease-", i), "")
		}
		plant(w, other, "/s/locks/"+curator(3, "lock-", 3), "", zk.FlagEphemeral)
		plant(w, other, "/s/leases/"+curator(4, "lease-", 4), "", zk.FlagEphemeral)
	}, inspect.Checks{Sizes: map[string]int{"/s": 2}}, nil},
	"more permits of kazoo than its node says": {func(w *world, other *zk.Conn) {
		w.persistent("/k", "1")
		w.ephemeral("/k/"+kazoo(1, "", 0)[:32], "")
		w.ephemeral("/k/"+kazoo(2, "", 0)[:32], "")
	}, inspect.Checks{}, []string{"above-size /k 2"}},
	"a holder that others wait for": {func(w *world, other *zk.Conn) {
		for _, lock := range []string{"/waited", "/alone"} {
			w.ephemeral(lock+"/"+curator(1, "lock-", 1), "")
		}
		w.ephemeral("/waited/"+curator(2, "lock-", 2), "")
		w.ephemeral("/election/"+curator(1, "latch-", 1), "")
		w.ephemeral("/election/"+curator(2, "latch-", 2), "")
	}, inspect.Checks{Long: time.Minute}, []string{"held-long /waited 1"}},
	"a holder that is not old yet": {func(w *world, other *zk.Conn) {
		w.ephemeral("/m/"+curator(1, "lock-", 1), "")
		w.ephemeral("/m/"+curator(2, "lock-", 2), "")
	}, inspect.Checks{Long: 2 * time.Minute}, nil},
	"sequence numbers near their end, and beyond": {func(w *world, other *zk.Conn) {
		w.ephemeral("/near/"+curator(1, "lock-", 1<<30-1), "")
		w.ephemeral("/far/"+curator(1, "lock-", 1<<30-2), "")
		w.ephemeral("/beyond/"+curator(1, "lock-", 1<<31-1), "")
		w.ephemeral("/beyond/"+curator(2, "lock-", -1<<31), "")
	}, inspect.Checks{}, []string{"sequence-ends /beyond 0", "sequence-ends /near 0"}},
	"lists that fill half of an answer": {func(w *world, other *zk.Conn) {
		for i, lock := range []string{"/long", "/long", "/short", "/foreign", "/s/leases", "/s/locks"} {
			kind := "lock-"
			if lock == "/s/leases" {
				kind = "lease-"
			}
			plant(w, w.raw(fmt.Sprint("client-", i)), lock+"/"+curator(i, kind, i), "", zk.FlagEphemeral)
		}
		w.persistent("/foreign/"+strings.Repeat("x", 55), "")
	}, inspect.Checks{MaxPacket: 2 * (4 + 8 + 4 + 4 + 68 + 2*(4+55))}, []string{"foreign-child /foreign 1", "long-list /foreign 1", "long-list /long 1"}},
	"semaphores with so many permits": {func(w *world, other *zk.Conn) {
		for _, lock := range []string{"/most", "/many", "/unknown"} {
			w.ephemeral(lock+"/leases/"+curator(1, "lease-", 1), "")
		}
		w.ephemeral("/mutex/"+curator(1, "lock-", 1), "")
	}, inspect.Checks{Sizes: map[string]int{"/most": 8736, "/many": 8737, "/mutex": 9000}}, []string{"many-permits /many 0"}},
	"a session with many nodes": {func(w *world, other *zk.Conn) {
		for i := range 3 {
			plant(w, other, fmt.Sprintf("/m-%d/", i)+curator(i, "lock-", i), "", zk.FlagEphemeral)
		}
		w.ephemeral("/m-2/"+curator(4, "lock-", 4), "")
		w.ephemeral("/m-3/"+curator(5, "lock-", 5), "")
	}, inspect.Checks{MaxPacket: 3 * (4 + len("/m-0/") + 55)}, []string{
		"large-session /m-0,/m-1,/m-2 0", "long-list /m-0 1", "long-list /m-1 1", "long-list /m-2 1", "long-list /m-3 1"}},
	"a round without members": {func(w *world, other *zk.Conn) {
		w.persistent("/alone/ready", "")
		w.persistent("/b/ready", "")
		w.ephemeral("/b/"+curator(1, "", 0)[3:39], "came later")
		w.persistent("/joined/ready", "\n"+curator(1, "", 0)[3:39])
		w.ephemeral("/joined/"+curator(1, "", 0)[3:39], "came later, and is listed")
	}, inspect.Checks{}, []string{"stale-ready /alone 1", "stale-ready /b 1"}},
	"nothing of a lock that is not known": {func(w *world, other *zk.Conn) {
		w.ephemeral("/x/x-0000000001", "")
		w.persistent("/x/x-0000000002", "")
	}, inspect.Checks{Long: time.Second}, nil},
}

func TestEachProblemIsFoundWhereItIs(t *testing.T) {
	for name, test := range planted {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				test.plant(w, w.raw("other"))
				if name == "locks that are in order" { // the member is of the round
					if err := w.conn.Delete("/b/ready", -1); err != nil {
						t.Fatal(err)
					}
					w.persistent("/b/ready", "")
				}
				time.Sleep(time.Minute)
				if got := problems(w.diagnose(test.checks)); !slices.Equal(got, test.want) {
					t.Errorf("found %q, want %q", got, test.want)
				}
			})
		})
	}
}

// A node whose session the servers do not have. No server with that bug is available: the
// answer to dump is planted.
func TestANodeThatHasOutlivedItsSessionIsFound(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		other := w.raw("other")
		plant(w, other, "/m/"+curator(1, "lock-", 1), "", zk.FlagEphemeral)
		w.ephemeral("/m/"+curator(2, "lock-", 2), "")
		mine := fmt.Sprintf("SessionTracker dump:\nGlobal Sessions(1):\n%#x\t10000ms\nephemeral nodes dump:\n", uint64(w.conn.SessionID()))
		for dump, want := range map[string][]string{
			mine: {"session-ended /m 1"},
			mine[:strings.Index(mine, "ephemeral")] + fmt.Sprintf("%#x\t10000ms\nephemeral nodes dump:\n", uint64(other.SessionID())): nil,
		} {
			sessions := inspect.ReadSessions(t.Context(), answers{"a:1 cons": "\n", "a:1 dump": dump}.dial, []string{"a:1"}, 0)
			if got := problems(w.diagnose(inspect.Checks{Sessions: sessions})); !slices.Equal(got, want) {
				t.Errorf("found %q, want %q, by\n%s", got, want, dump)
			}
		}
	})
}

func TestSequenceNumbersThatAreLeft(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.ephemeral("/m/"+curator(1, "lock-", 1<<31-43), "")
		w.ephemeral("/n/"+curator(1, "lock-", -5), "")
		for i, want := range []int64{42, 0} {
			if f := w.diagnose(inspect.Checks{}); len(f) != 2 || f[i].Left != want {
				t.Errorf("found %+v", f)
			}
		}
	})
}

// The servers also tell of nodes that are not below the locks.
func TestLimitsOfWhichTheServersTell(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.ephemeral("/m/"+curator(1, "lock-", 1), "")
		dump := func(nodes int) string {
			return fmt.Sprintf("SessionTracker dump:\nGlobal Sessions(1):\n%#[1]x\t10000ms\nephemeral nodes dump:\nSessions with Ephemerals (2):\n0x99:\n\t%[3]s\n%#[1]x:\n%[2]sConnections dump:\n",
				uint64(w.conn.SessionID()), strings.Repeat("\t/elsewhere/"+strings.Repeat("x", 989)+"\n", nodes), "/"+strings.Repeat("x", 3<<20))
		}
		for name, test := range map[string]struct {
			answers answers
			want    []string
		}{
			"a session with few nodes":            {answers{"a:1 dump": dump(1044)}, nil},
			"one with half of what servers read":  {answers{"a:1 dump": dump(1045)}, []string{"large-session /m 0"}},
			"a server lags behind":                {answers{"a:1 dump": dump(3), "b:1 dump": dump(1045)}, []string{"large-session /m 0"}},
			"less than half of the transactions":  {answers{"a:1 srvr": "Latency min/avg/max: 0/0.0/0\nZxid: 0x57fffffff\nMode: leader\n"}, nil},
			"half of them":                        {answers{"a:1 srvr": "Latency min/avg/max: 0/0.0/0\nZxid: 0x580000000\nMode: leader\n"}, []string{"transactions-end  0"}},
			"a server has gone further than this": {answers{"a:1 srvr": "Zxid: 0x4\n", "b:1 srvr": "Zxid: 0x5ffffffff\n"}, []string{"transactions-end  0"}},
		} {
			sessions := inspect.ReadSessions(t.Context(), test.answers.dial, []string{"a:1", "b:1"}, 0)
			found := w.diagnose(inspect.Checks{Sessions: sessions})
			if got := problems(found); !slices.Equal(got, test.want) {
				t.Errorf("%s: found %q, want %q", name, got, test.want)
			}
			if twice := inspect.Confirmed(found, w.diagnose(inspect.Checks{Sessions: sessions})); len(twice) != len(test.want) {
				t.Errorf("%s: found %v at the second look", name, problems(twice))
			}
		}
	})
}

// Sessions that wait for each other, and sessions that only seem to.
func TestDeadlocksAreFound(t *testing.T) {
	type node struct {
		session  int
		lock     string
		sequence int
	}
	for name, test := range map[string]struct {
		nodes []node
		want  []string // the circle: session holds waits
	}{
		"two sessions, in opposite orders": {[]node{{0, "/a", 0}, {1, "/b", 0}, {0, "/b", 1}, {1, "/a", 1}},
			[]string{"0 /a /b", "1 /b /a"}},
		"both of which wait for themselves, too": {[]node{{0, "/a", 0}, {0, "/a", 1}, {1, "/b", 0}, {1, "/b", 1}, {0, "/b", 2}, {1, "/a", 2}},
			[]string{"0 /a /b", "1 /b /a"}},
		"the same order": {[]node{{0, "/a", 0}, {0, "/b", 0}, {1, "/a", 1}, {1, "/b", 1}}, nil},
		"one session with itself, which may be two owners": {[]node{{0, "/a", 0}, {0, "/b", 0}, {0, "/a", 1}, {0, "/b", 1}}, nil},
		"a chain": {[]node{{0, "/a", 0}, {1, "/a", 1}, {1, "/b", 0}, {2, "/b", 1}}, nil},
		"three in a circle, and one who waits for them": {[]node{{0, "/a", 0}, {1, "/b", 0}, {2, "/c", 0}, {0, "/b", 1}, {1, "/c", 1}, {2, "/a", 1}, {3, "/a", 2}},
			[]string{"0 /a /b", "1 /b /c", "2 /c /a"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				conns := []*zk.Conn{w.conn}
				for i := range 3 {
					conns = append(conns, w.raw(fmt.Sprint("other ", i)))
				}
				number := make(map[int64]int)
				for _, n := range test.nodes {
					plant(w, conns[n.session], n.lock+"/"+curator(n.session, "lock-", n.sequence), "", zk.FlagEphemeral)
					number[conns[n.session].SessionID()] = n.session
				}
				findings := w.diagnose(inspect.Checks{})
				if test.want == nil {
					if len(findings) > 0 {
						t.Errorf("found %q", problems(findings))
					}
					return
				}
				if len(findings) != 1 || findings[0].Problem != inspect.Deadlock {
					t.Fatalf("found %q", problems(findings))
				}
				var got []string
				for _, wait := range findings[0].Cycle {
					got = append(got, fmt.Sprintf("%d %s %s", number[wait.Session], wait.Holds, wait.Waits))
				}
				for range got { // it may begin anywhere
					if slices.Equal(got, test.want) {
						return
					}
					got = append(got[1:], got[0])
				}
				t.Errorf("the circle is %q, want %q", got, test.want)
			})
		})
	}
}

// Deadlocks with readers, and with permits.
func TestDeadlocksOfReadersAndOfPermits(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, b, c := w.conn, w.raw("b"), w.raw("c")
		node := func(conn *zk.Conn, path string) { plant(w, conn, path, "", zk.FlagEphemeral) }
		// Client a reads and waits for /m. Client b holds /m and waits to write.
		node(a, "/rw/"+curator(1, "__READ__", 0))
		node(c, "/rw/"+curator(2, "__READ__", 1))
		node(b, "/m/"+curator(1, "lock-", 0))
		node(b, "/rw/"+curator(3, "__WRIT__", 2))
		node(a, "/m/"+curator(2, "lock-", 1))
		if got, want := problems(w.diagnose(inspect.Checks{})), []string{"deadlock /m,/rw 4"}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
		// With a permit it is no deadlock as long as others have permits that they may release.
		for _, path := range []string{"/rw/" + curator(1, "__READ__", 0)} {
			if err := w.conn.Delete(path, -1); err != nil {
				t.Fatal(err)
			}
		}
		node(a, "/s/leases/"+curator(1, "lease-", 0))
		node(c, "/s/leases/"+curator(2, "lease-", 1))
		node(b, "/s/locks/"+curator(3, "lock-", 2))
		if got := problems(w.diagnose(inspect.Checks{})); got != nil {
			t.Errorf("found %q", got)
		}
		if err := c.Delete("/s/leases/"+curator(2, "lease-", 1), -1); err != nil {
			t.Fatal(err)
		}
		if got, want := problems(w.diagnose(inspect.Checks{})), []string{"deadlock /m,/s 4"}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	})
}

// A problem that is found once and not again was temporary.
func TestAFindingIsConfirmedByASecondLook(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.persistent("/stays/"+curator(1, "lock-", 1), "")
		w.persistent("/changes/"+curator(1, "lock-", 1), "")
		w.persistent("/b/ready", "")
		w.ephemeral("/m/"+curator(1, "lock-", 1), "")
		w.ephemeral("/m/one", "")
		first := w.diagnose(inspect.Checks{})
		for _, node := range []string{"/changes/" + curator(1, "lock-", 1), "/b/ready", "/m/one"} {
			if err := w.conn.Delete(node, -1); err != nil {
				t.Fatal(err)
			}
		}
		w.persistent("/changes/"+curator(2, "lock-", 2), "")
		w.persistent("/b/ready", "") // another round
		w.ephemeral("/m/two", "")
		w.persistent("/new/"+curator(1, "lock-", 1), "")
		both := inspect.Confirmed(first, w.diagnose(inspect.Checks{}))
		if got, want := problems(both), []string{"foreign-child /m 1", "persistent-node /stays 1"}; !slices.Equal(got, want) {
			t.Errorf("confirmed %q, want %q", got, want)
		}
	})
}

func TestReadCountReadsAndDoesNotCreate(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		if err := recipes.NewSharedCount(w.client("a"), "/count", 7).Set(t.Context(), 7); err != nil {
			t.Fatal(err)
		}
		w.persistent("/text", "seven")
		if n, err := inspect.ReadCount(t.Context(), w.conn, "/count"); n != 7 || err != nil {
			t.Errorf("%d, error %v", n, err)
		}
		for _, path := range []string{"/text", "/none"} {
			if n, err := inspect.ReadCount(t.Context(), w.conn, path); err == nil {
				t.Errorf("%s: %d", path, n)
			}
		}
		if _, there := w.Node("/none"); there {
			t.Error("it was created")
		}
	})
}
