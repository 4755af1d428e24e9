package locks

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// doctor runs zkverify locks doctor, with a short wait between its two looks.
func (b *bench) doctor(args ...string) answer {
	return b.locks(append([]string{"doctor", "--observe", "1ms"}, args...)...)
}

func TestDoctorFindsNothingWhereNothingIs(t *testing.T) {
	b := newBench(t)
	holder, _ := b.holding()
	b.doctor("/").want(t, 0, []string{"1 lock examined, 0 findings\n"}, nil)
	if !holder.Valid() {
		t.Error("the holder has lost its lock")
	}
}

// Each finding names the problem, the place, the meaning and the advice. Findings that need other
// servers than these are tested in TestEveryFindingIsWorded.
func TestDoctorSaysWhatToDo(t *testing.T) {
	b := newBench(t)
	orphan := "/orphan/" + curator(1, "lock-")
	b.plant(orphan, "", 0)
	b.ephemeral("/orphan/"+curator(2, "lock-"), "a")
	b.ephemeral("/foreign/"+curator(1, "lock-"), "a")
	b.plant("/foreign/readme", "", 0)
	for i := range 2 {
		b.ephemeral("/s/leases/"+curator(i, "lease-"), "a")
	}
	if err := recipes.NewSharedCount(b.client("count"), "/size", 1).Set(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	b.ephemeral("/long/"+curator(1, "lock-"), "slow-1/7")
	b.ephemeral("/long/"+curator(2, "lock-"), "a")
	b.ephemeral(fmt.Sprintf("/wrap/_c_%s-lock-%010d", curator(1, "")[3:39], 1<<31-10), "a")
	b.plant("/b/ready", "", 0)
	a := b.doctor("--long", "1ms", "--size", "/s=/size", "/")
	a.want(t, exitFound, []string{
		"/orphan: a contender that no session owns holds the lock; 1 waiter\n    " + orphan + "\n  means: ", "zkverify locks break /orphan --token " + b.token(orphan),
		"/foreign: 1 child node that are not of this recipe (mutex)\n    /foreign/readme\n",
		"/s: 2 permits out of a semaphore of size 1\n",
		"/long: slow-1/7 has held it for up to ", "zkverify locks ask /long",
		"/wrap: 9 acquires left before the sequence numbers end at 2³¹\n",
		"/b: a node ready without a member of its round\n    /b/ready\n",
		"6 locks examined, ",
	}, nil)
	if means, do := strings.Count(a.out, "\n  means: "), strings.Count(a.out, "\n  do: "); means != do || means < 6 {
		t.Errorf("%d meanings, %d things to do:\n%s", means, do, a.out)
	}
	var j diagnosis
	a = b.doctor("--json", "--size", "/s=1", "/")
	if err := json.Unmarshal([]byte(a.out), &j); err != nil || a.status != exitFound || len(j.Findings) != 5 || j.Locks != 6 {
		t.Errorf("exit status %d, error %v: %s", a.status, err, a.out)
	}
	for _, f := range j.Findings {
		if f.Problem == "" || len(f.Locks) != 1 || f.What == "" || f.Means == "" || f.Do == "" {
			t.Errorf("a finding lacks something: %+v", f)
		}
	}
	b.doctor("--size", "/s=2", "/s").want(t, 0, []string{"1 lock examined, 0 findings\n"}, nil)
}

// The doctor warns when half of a limit of the servers is used.
func TestDoctorWarnsAtHalfOfALimit(t *testing.T) {
	b := newBench(t)
	for i := range 12 {
		b.ephemeral(fmt.Sprintf("/l-%02d/", i)+curator(i, "lock-"), "web-1/7")
	}
	for i := range 2 {
		b.ephemeral("/s/leases/"+curator(i, "lease-"), "web-1/7")
	}
	b.doctor("--size", "/s=8000", "/").want(t, 0, []string{"0 findings\n"}, nil)
	b.doctor("--jute-max-buffer", "400", "--size", "/s=3", "/").want(t, exitFound, []string{
		"/l-00, /l-01, /l-02, /l-03, /l-04, /l-05, /l-06, /l-07, /l-08, /l-09 and 3 more: session " + sessionID(b.conn.SessionID()) + " has 14 ephemeral nodes; its end makes a transaction of ", " bytes, and servers read 800\n", "(ZOOKEEPER-4306)",
		"/s: the list of the children of /s/leases has 208 bytes, and an answer of the servers may have 400\n",
		"/s: a semaphore of size 3: the list of all its permits has 268 bytes, and an answer of the servers may have 400\n",
		"3 findings\n",
	}, nil)
	b.doctor("--jute-max-buffer", "0", "/").want(t, exitUsage, nil, []string{"--jute-max-buffer must be positive"})
	b.addrs = b.relayed(func(word string) string {
		if word == "srvr" {
			return "Zxid: 0x1fffffffe\n"
		}
		return ""
	})
	b.doctor("/").want(t, exitFound, []string{"the servers: 2 transactions left before the leader's numbers end at 2³²\n  means: "}, nil)
	if a := b.doctor("--json", "/"); !strings.Contains(a.out, `"locks": []`) {
		t.Errorf("it prints %s", a.out)
	}
}

func TestDoctorPrintsADeadlockAsACircle(t *testing.T) {
	b := newBench(t)
	one, two := b.client("one"), b.client("two")
	acquire := func(c *recipes.Client, path, name string) {
		t.Helper()
		if _, err := recipes.NewMutex(c, path, recipes.WithData([]byte(name))).Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	acquire(one, "/orders", "web-1/1")
	acquire(two, "/stock", "web-2/2")
	for path, c := range map[string]*recipes.Client{"/stock": one, "/orders": two} {
		go func() { _, _ = recipes.NewMutex(c, path).Acquire(t.Context()) }()
	}
	for len(b.Children("/orders"))+len(b.Children("/stock")) < 4 {
		time.Sleep(time.Millisecond)
	}
	a := b.doctor("/")
	a.want(t, exitFound, []string{
		"/orders, /stock: deadlock: ", fmt.Sprintf("web-1/1 (session %s) holds /orders and waits for /stock", sessionID(one.SessionID())),
		fmt.Sprintf("web-2/2 (session %s) holds /stock and waits for /orders", sessionID(two.SessionID())), "This is judged by session",
		"zkverify locks break /", "2 locks examined, 1 finding\n",
	}, nil)
}

// A problem that is gone at the second look is no finding.
func TestDoctorLooksTwice(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/"+curator(1, "lock-"), "a")
	b.plant("/l/readme", "", 0)
	var once sync.Once
	b.addrs = b.relayed(func(word string) string {
		if word == "cons" { // the locks have been read for the first time
			once.Do(func() {
				if err := b.conn.Delete("/l/readme", -1); err != nil {
					t.Error(err)
				}
				b.plant("/l/"+curator(2, "lock-"), "this is new", 0)
			})
		}
		return ""
	})
	b.doctor("/l").want(t, 0, []string{"1 lock examined, 0 findings\n"}, nil)
	b.doctor("/l").want(t, exitFound, []string{"1 lock examined, 1 finding\n"}, nil)
}

// Unused containers are found, and removed if the flags ask for it. Used ones stay.
func TestDoctorRemovesParentsThatAreNotUsed(t *testing.T) {
	b := newBench(t)
	b.holding()
	for _, path := range []string{"/left", "/left/a", "/left/b", "/full"} {
		if _, err := b.conn.CreateContainer(path, nil, zk.FlagContainer, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	b.plant("/full/data", "x", 0)
	b.doctor("/").want(t, 0, []string{"0 findings\n"}, nil)
	b.doctor("--unused", "1h", "/").want(t, 0, []string{"0 findings\n"}, nil)
	b.doctor("--unused", "1ns", "/").want(t, exitFound, []string{"/left/a: empty for ", "/left/b: empty for ", "2 findings\n"}, nil)
	b.doctor("--unused", "1ns", "--remove", "/").want(t, exitFound, []string{"2 findings\n"}, []string{"removed /left/a", "removed /left/b"})
	b.doctor("--unused", "1ns", "/").want(t, 0, []string{"0 findings\n"}, nil)
	if _, there := b.Node("/full/data"); !there {
		t.Error("a node with data has gone")
	}
}

func TestEveryFindingIsWorded(t *testing.T) {
	c := &inspect.Contender{Path: "/l/n", Read: true, Session: 10, Token: recipes.Token{Zxid: 5}}
	waiter := *c
	held := *c
	held.Holds = true
	wait := inspect.Wait{Session: 10, Holds: "/a", Waits: "/b", Holder: &held, Waiter: &waiter}
	for _, problem := range []inspect.Problem{
		inspect.PersistentNode, inspect.SessionEnded, inspect.ForeignChild, inspect.AboveSize, inspect.HeldLong, inspect.SequenceEnds, inspect.Deadlock, inspect.StaleReady, inspect.UnusedParent,
		inspect.LongList, inspect.ManyPermits, inspect.LargeSession, inspect.TransactionsEnd,
	} {
		for _, contender := range []*inspect.Contender{c, &held} {
			f := &inspect.Finding{Problem: problem, Locks: []string{"/l"}, Nodes: []string{"/l/n"}, Contender: contender, Cycle: []inspect.Wait{wait, wait}}
			if w := wordsOf(f, new(doctorCmd)); w.what == "" || w.means == "" || w.do == "" {
				t.Errorf("%s: %+v", problem, w)
			}
		}
	}
	f := &inspect.Finding{Problem: inspect.SessionEnded, Locks: []string{"/l\u202e"}, Contender: &held, Waiters: 2}
	if w := wordsOf(f, new(doctorCmd)); w.what != "a contender whose session has ended holds the lock; 2 waiters" || !strings.Contains(w.means, "session 0xa any more") || !strings.Contains(w.do, `zkverify locks break /l\u202e --token 0x5`) {
		t.Errorf("%+v", w)
	}
}
