package locks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a simulated ensemble with an operator's terminal.
type bench struct {
	*testing.T
	*zktest.Ensemble
	conn  *zk.Conn // plants nodes
	addrs string   // as --servers takes them
	in    io.Reader
	asks  bool
}

func newBench(t *testing.T) *bench {
	t.Helper()
	e := zktest.Start(t)
	b := &bench{T: t, Ensemble: e, addrs: strings.Join(e.Client("operator").Addrs(), ","), in: strings.NewReader("")}
	b.conn = b.raw("planter")
	return b
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func (b *bench) raw(name string) *zk.Conn {
	b.T.Helper()
	conn, _, err := zk.Connect(b.Servers(), 10*time.Second, zk.WithDialer(b.Client(name).DialTimeout), zk.WithLogger(silent{}))
	if err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(conn.Close)
	return conn
}

func (b *bench) client(name string) *recipes.Client {
	b.T.Helper()
	c, err := recipes.Connect(b.T.Context(), b.Servers(), recipes.WithDialer(b.Client(name).DialContext), recipes.WithServerTick(200*time.Millisecond))
	if err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// plant creates a node, and its missing parents.
func (b *bench) plant(path, data string, flags int32) {
	b.T.Helper()
	for i := range path {
		if i > 0 && path[i] == '/' {
			if _, err := b.conn.Create(path[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
				b.T.Fatal(err)
			}
		}
	}
	if _, err := b.conn.Create(path, []byte(data), flags, zk.WorldACL(zk.PermAll)); err != nil {
		b.T.Fatalf("%s: %v", path, err)
	}
}

func (b *bench) ephemeral(path, data string) { b.T.Helper(); b.plant(path, data, zk.FlagEphemeral) }

func (b *bench) token(path string) string {
	b.T.Helper()
	n, there := b.Node(path)
	if !there {
		b.T.Fatalf("%s is not there", path)
	}
	return recipes.Token{Zxid: n.Czxid}.String()
}

// output may be written to and read by several goroutines.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// answer holds the outputs and the exit status of a command.
type answer struct {
	out, err string
	status   int
}

// locks runs zkverify locks with these arguments.
func (b *bench) locks(args ...string) answer {
	b.T.Helper()
	var out, said output
	return run(b.T, b.T.Context(), b.addrs, &Console{Out: &out, Err: &said, In: b.in, Asks: b.asks}, args...)
}

func run(t *testing.T, ctx context.Context, servers string, con *Console, args ...string) answer {
	t.Helper()
	return runCommand(t, ctx, con, append(args, "--servers", servers)...)
}

// runCommand is run for a command that has no servers.
func runCommand(t *testing.T, ctx context.Context, con *Console, args ...string) answer {
	t.Helper()
	parser, err := kong.New(new(Command), kong.Exit(func(int) {}), kong.Bind(con))
	if err != nil {
		t.Fatal(err)
	}
	command, err := parser.Parse(args)
	status := exitUsage
	if err == nil {
		command.BindTo(ctx, (*context.Context)(nil))
		status = 0
		if err = command.Run(); err != nil {
			var exit *Exit
			if status = exitUnsure; errors.As(err, &exit) {
				status = exit.Status
			}
		}
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintln(con.Err, err)
	}
	return answer{fmt.Sprint(con.Out), fmt.Sprint(con.Err), status}
}

// want checks the exit status of a command, and texts of its output and of its remarks.
func (a answer) want(t *testing.T, status int, out, err []string) {
	t.Helper()
	if a.status != status {
		t.Errorf("exit status %d, want %d", a.status, status)
	}
	bad := false
	for _, text := range out {
		bad = bad || !strings.Contains(a.out, text)
	}
	for _, text := range err {
		bad = bad || !strings.Contains(a.err, text)
	}
	if bad || a.status != status {
		t.Errorf("want %q in the output and %q in the remarks:\n%s--\n%s", out, err, a.out, a.err)
	}
}

func curator(n int, kind string) string {
	return fmt.Sprintf("_c_%08x-1111-4222-8333-444444444444-%s%010d", n, kind, n)
}

// closedPort returns an address at which no server listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
