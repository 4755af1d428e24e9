package inspect_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// answers holds the servers' answers to four-letter words, by address and word.
type answers map[string]string

func (a answers) dial(_ context.Context, _, addr string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		word := make([]byte, 4)
		if _, err := io.ReadFull(far, word); err == nil {
			_, _ = io.WriteString(far, a[addr+" "+string(word)])
		}
		_ = far.Close()
	}()
	return near, nil
}

// As ZooKeeper 3.8.0 writes it.
const (
	consOf = " /127.0.0.1:53184[0](queued=0,recved=1,sent=0)\n" +
		" /127.0.0.1:53172[1](queued=0,recved=22,sent=23,sid=0x300000b61590000,lop=DELE,est=1795551157761,to=30000,lcxid=0x15,lzxid=0x10000000a,lresp=757466,llat=5,minlat=0,avglat=3,maxlat=14)\n" +
		" /0:0:0:0:0:0:0:1:40000[1](queued=0,recved=22,sent=23,sid=0xff00000b61590001,lop=PING,est=1795551157761,to=30000)\n\n"
	followersDump = "SessionTracker dump:\nGlobal Sessions(5):\n" +
		"0x300000b61590000\t30000ms\n0xff00000b61590001\t30000ms\n0x100000000000002\t30000ms\n0x100000000000003\t30000ms\n0x1000000000000ff\t10000ms\n" +
		"ephemeral nodes dump:\nSessions with Ephemerals (2):\n0x100000000000009:\n\t/kz/lock/5bc7d0f453654b5e941bf7457a78e444__lock__0000000000\nConnections dump:\n"
	leadersDump = "SessionTracker dump:\nSession Sets (3)/(5):\n" +
		"1 expire at Tue Nov 24 20:12:40 CET 2026:\n\t0x100000000000003\n" +
		"2 expire at Tue Nov 24 20:12:48 CET 2026:\n\t0x1000000000000ff\n\t0x100000000000002\n" +
		"2 expire at Tue Nov 24 20:13:08 CET 2026:\n\t0x300000b61590000\n\t0xff00000b61590001\n" +
		"ephemeral nodes dump:\nSessions with Ephemerals (1):\n0x100000000000009:\n\t/x\nConnections dump:\nConnections Sets (2)/(1):\n0 expire at Tue Nov 24 20:12:40 CET 2026:\n1 expire at Tue Nov 24 20:12:50 CET 2026:\n\tip: /127.0.0.1:36558 sessionId: 0x0\n"
	refused = "cons is not executed because it is not in the whitelist.\n"
)

const (
	connected = 0x300000b61590000
	negative  = int64(-0xfffff49ea6ffff) // 0xff00000b61590001
	unheard   = 0x100000000000002
	silentOne = 0x100000000000003
	ended     = 0x100000000000009 // still has a node
	operator  = 0x1000000000000ff
)

func TestTheStateOfASession(t *testing.T) {
	leader, follower := "leader:1", "follower:2"
	all := answers{"leader:1 cons": "\n", "leader:1 dump": leadersDump, "follower:2 cons": consOf, "follower:2 dump": followersDump}
	const alive, expiring, gone, unknown = inspect.SessionAlive, inspect.SessionExpiring, inspect.SessionGone, inspect.SessionUnknown
	for name, test := range map[string]struct {
		answers answers
		servers []string
		want    map[int64]inspect.SessionState
		unasked int
	}{
		"all servers tell": {all, []string{leader, follower}, map[int64]inspect.SessionState{
			connected: alive, negative: alive, unheard: inspect.SessionUnheard, silentOne: expiring, ended: gone, 0: inspect.SessionNone, operator: inspect.SessionUnheard,
		}, 0},
		"a follower alone tells what exists, and of its own connections": {all, []string{follower}, map[int64]inspect.SessionState{
			connected: alive, unheard: inspect.SessionUnheard, silentOne: inspect.SessionUnheard, ended: gone,
		}, 0},
		"one server does not allow cons": {answers{"leader:1 cons": refused, "leader:1 dump": leadersDump, "follower:2 cons": consOf, "follower:2 dump": followersDump},
			[]string{leader, follower}, map[int64]inspect.SessionState{connected: alive, unheard: unknown, silentOne: expiring, ended: gone}, 1},
		"no server allows anything": {answers{"leader:1 cons": refused, "leader:1 dump": refused}, []string{leader},
			map[int64]inspect.SessionState{connected: unknown, ended: unknown, 0: inspect.SessionNone}, 1},
		"no server allows dump": {answers{"leader:1 cons": "\n", "leader:1 dump": refused, "follower:2 cons": consOf, "follower:2 dump": refused}, []string{leader, follower},
			map[int64]inspect.SessionState{connected: alive, unheard: unknown, ended: unknown}, 2},
		"no server is named": {nil, nil, map[int64]inspect.SessionState{connected: unknown, 0: inspect.SessionNone}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := inspect.ReadSessions(t.Context(), test.answers.dial, test.servers, operator)
			for id, want := range test.want {
				if got := s.State(id); got != want {
					t.Errorf("%#x is %s, want %s", id, got, want)
				}
			}
			if len(s.Unasked) != test.unasked {
				t.Errorf("unasked: %v", s.Unasked)
			}
			for _, err := range s.Unasked {
				if !errors.Is(err, inspect.ErrNotAllowed) {
					t.Error(err)
				}
			}
		})
	}
	s := inspect.ReadSessions(t.Context(), all.dial, []string{leader, follower}, operator)
	if a, b, c := s.Client(connected), s.Client(negative), s.Client(unheard); a != "127.0.0.1:53172" || b != "0:0:0:0:0:0:0:1:40000" || c != "" {
		t.Errorf("clients %q %q %q", a, b, c)
	}
	// The operator's own session was heard of just now, and has 10 s.
	for id, want := range map[int64]time.Duration{operator: 10 * time.Second, unheard: 10 * time.Second, silentOne: 2 * time.Second, connected: 30 * time.Second} {
		if left, known := s.Left(id); !known || left != want {
			t.Errorf("%#x has %v left, want %v", id, left, want)
		}
	}
	if _, known := s.Left(ended); known {
		t.Error("a session that has ended has time left")
	}
	var none *inspect.Sessions
	if none.State(connected) != unknown || none.Client(connected) != "" {
		t.Error("no server was asked, and yet it is known")
	}
}

func TestServersThatCannotBeAsked(t *testing.T) {
	for want, answer := range map[string]string{
		"does not serve": "This ZooKeeper instance is not currently serving requests\n",
		"EOF":            "",
	} {
		s := inspect.ReadSessions(t.Context(), answers{"a:1 cons": answer, "a:1 dump": answer}.dial, []string{"a:1"}, 0)
		if err := s.Unasked["a:1"]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	refuses := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("connection refused") }
	s := inspect.ReadSessions(t.Context(), refuses, []string{"a:1", "b:2"}, 0)
	if len(s.Unasked) != 2 || s.State(1) != inspect.SessionUnknown {
		t.Errorf("unasked %v, state %s", s.Unasked, s.State(1))
	}
}

// With simulated servers: a session that is cut off, and one that has ended.
func TestASessionThatIsCutOffAndExpires(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		c := w.client("a")
		if _, err := recipes.NewMutex(c, "/l").Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		id := c.SessionID()
		state := func() inspect.SessionState {
			return inspect.ReadSessions(t.Context(), w.dial, w.Servers(), w.conn.SessionID()).State(id)
		}
		if s := state(); s != inspect.SessionAlive {
			t.Errorf("it is %s", s)
		}
		w.Client("a").Refuse()
		time.Sleep(time.Second)
		if s := state(); s != inspect.SessionUnheard {
			t.Errorf("cut off it is %s", s)
		}
		time.Sleep(time.Minute)
		if s := state(); s != inspect.SessionGone {
			t.Errorf("after a minute it is %s", s)
		}
		if _, err := inspect.Read(t.Context(), w.conn, "/l"); !errors.Is(err, inspect.ErrFree) && !errors.Is(err, zk.ErrNoNode) {
			t.Errorf("the lock: error %v", err)
		}
	})
}

// For every answer of a server to cons and dump, no session has less than no time left, and
// each has a state.
func FuzzSessions(f *testing.F) {
	f.Add(consOf, leadersDump)
	f.Add(consOf, followersDump)
	f.Add(strings.ReplaceAll(consOf, "to=30000", "to=1000"), leadersDump) // others have expired by then
	f.Add("[(sid=0x300000b61590000,to=-1", "Session Sets:\n1 expire at never:\n\t0x1000000000000ff\n0x300000b61590000\t-5h\n")
	f.Fuzz(func(t *testing.T, cons, dump string) {
		a := answers{"a cons": cons, "a dump": dump}
		s := inspect.ReadSessions(t.Context(), a.dial, []string{"a"}, connected)
		for _, id := range []int64{connected, negative, unheard, silentOne, operator} {
			if left, known := s.Left(id); left < 0 || !known && left != 0 || s.State(id) == "" || s.State(id) == inspect.SessionNone {
				t.Errorf("session %#x: %v, %v, %q", id, left, known, s.State(id))
			}
		}
	})
}
