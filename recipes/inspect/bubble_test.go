package inspect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/inspect"
	"github.com/zkverify/zkverify/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a simulated ensemble in virtual time, with an operator's connection.
type world struct {
	*testing.T
	*zktest.Ensemble
	conn *zk.Conn // of the operator, who also plants nodes
	dial inspect.Dial
}

// in runs a test in a world of its own.
func in(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		operator := e.Client("operator")
		w := &world{T: t, Ensemble: e, dial: operator.DialContext}
		w.conn = w.raw("operator")
		test(t, w)
	})
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// raw returns a bare connection of the client with that name.
func (w *world) raw(name string) *zk.Conn {
	w.T.Helper()
	conn, _, err := zk.Connect(w.Servers(), 10*time.Second, zk.WithDialer(w.Client(name).DialTimeout), zk.WithLogger(silent{}))
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(conn.Close)
	return conn
}

// client returns a client of recipes, whose nodes have its name as their data.
func (w *world) client(name string) *recipes.Client {
	w.T.Helper()
	c, err := recipes.Connect(w.T.Context(), w.Servers(), recipes.WithDialer(w.Client(name).DialContext), recipes.WithServerTick(200*time.Millisecond))
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// plant creates a node and its missing parents. A session that ends takes its ephemeral
// nodes with it.
func plant(w *world, conn *zk.Conn, path, data string, flags int32) *zk.Stat {
	w.T.Helper()
	for i := range path {
		if i > 0 && path[i] == '/' {
			if _, err := conn.Create(path[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
				w.T.Fatal(err)
			}
		}
	}
	if _, err := conn.Create(path, []byte(data), flags, zk.WorldACL(zk.PermAll)); err != nil {
		w.T.Fatalf("%s: %v", path, err)
	}
	_, stat, err := conn.Exists(path)
	if err != nil {
		w.T.Fatal(err)
	}
	return stat
}

func (w *world) ephemeral(path, data string) {
	w.T.Helper()
	plant(w, w.conn, path, data, zk.FlagEphemeral)
}

func (w *world) persistent(path, data string) { w.T.Helper(); plant(w, w.conn, path, data, 0) }

func (w *world) read(path string, options ...inspect.Option) *inspect.Lock {
	w.T.Helper()
	l, err := inspect.Read(w.T.Context(), w.conn, path, options...)
	if err != nil {
		w.T.Fatal(err)
	}
	return l
}

func (w *world) find(paths ...string) *inspect.Snapshot {
	w.T.Helper()
	s, err := inspect.Find(w.T.Context(), w.conn, paths)
	if err != nil {
		w.T.Fatal(err)
	}
	return s
}

// queueText returns a lock in a line: its recipe, then each contender with its kind and
// data. A star marks the holders.
func queueText(l *inspect.Lock) string {
	var b strings.Builder
	b.WriteString(string(l.Recipe) + ":")
	for i := range l.Queue {
		c := &l.Queue[i]
		star := ""
		if c.Holds {
			star = "*"
		}
		fmt.Fprintf(&b, " %s%s %s", star, c.Kind, c.Data)
	}
	return b.String()
}

func wantQueue(t testing.TB, l *inspect.Lock, want string) {
	t.Helper()
	if got := queueText(l); got != want {
		t.Errorf("%s is\n%s, want\n%s", l.Path, got, want)
	}
}

func paths(s *inspect.Snapshot) (all []string) {
	for _, l := range s.Locks {
		all = append(all, l.Path+" "+string(l.Recipe))
	}
	return all
}

func wantPaths(t testing.TB, s *inspect.Snapshot, want ...string) {
	t.Helper()
	if got := paths(s); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// curator and kazoo return names as the libraries give them.
func curator(n int, kind string, sequence int) string {
	return fmt.Sprintf("_c_%08x-1111-4222-8333-444444444444-%s%010d", n, kind, sequence)
}

func kazoo(n int, kind string, sequence int) string {
	return fmt.Sprintf("%032x%s%010d", n, kind, sequence)
}
