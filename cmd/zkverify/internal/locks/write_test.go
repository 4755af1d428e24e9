package locks

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// holding makes one client of recipes hold /l, and another one wait for it.
func (b *bench) holding(options ...recipes.LockOption) (holder *recipes.Lease, next <-chan *recipes.Lease) {
	b.T.Helper()
	holder, err := recipes.NewMutex(b.client("holder"), "/l", append(options, recipes.WithData([]byte("web-1/4711")))...).Acquire(b.T.Context())
	if err != nil {
		b.T.Fatal(err)
	}
	waiter, got := b.client("waiter"), make(chan *recipes.Lease, 1)
	go func() {
		lease, err := recipes.NewMutex(waiter, "/l").Acquire(b.T.Context())
		if err == nil {
			got <- lease
		}
	}()
	for len(b.Children("/l")) < 2 {
		time.Sleep(time.Millisecond)
	}
	return holder, got
}

func TestAskAsksTheHolder(t *testing.T) {
	b := newBench(t)
	asked := make(chan *recipes.Lease, 1)
	holder, _ := b.holding(recipes.WithRevocation(func(l *recipes.Lease) { asked <- l }))
	b.locks("ask", "/l").want(t, 0, []string{"asked web-1/4711 (session 0x", "token " + holder.Token().String() + ") to release /l\n", "No client is forced"}, nil)
	if l := <-asked; l.Token() != holder.Token() || !holder.Valid() {
		t.Errorf("asked %v; the holder's lease is %v", l, holder)
	}
}

func TestAskAsksEveryReader(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/rw/"+curator(1, "__READ__"), "one")
	b.ephemeral("/rw/"+curator(2, "__READ__"), "two")
	b.ephemeral("/rw/"+curator(3, "__WRIT__"), "three")
	a := b.locks("ask", "/rw")
	a.want(t, 0, []string{"asked one ", "asked two "}, nil)
	for n, want := range map[string]string{curator(1, "__READ__"): "__REVOKE__", curator(2, "__READ__"): "__REVOKE__", curator(3, "__WRIT__"): "three"} {
		if node, _ := b.Node("/rw/" + n); string(node.Data) != want {
			t.Errorf("%s has %q", n, node.Data)
		}
	}
	b.locks("inspect", "/rw").want(t, 0, []string{"(asked to release)"}, nil)
}

func TestAskLeavesAloneWhoCannotBeAsked(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/kazoo/"+strings.Repeat("a", 32)+"__lock__0000000001", "id")
	b.ephemeral("/zk/_c_"+strings.Repeat("a", 32)+"-lock-0000000001", "id")
	b.ephemeral("/x/x-0000000001", "id")
	b.ephemeral("/b/"+curator(1, "")[3:39], "id")
	b.ephemeral("/s/locks/"+curator(1, "lock-"), "id")
	b.plant("/s/leases", "", 0)
	before := b.Tree("/")
	for path, want := range map[string]string{
		"/kazoo": "locks of kazoo know no such request", "/zk": "locks of zk.Lock know no such request",
		"/x": "its nodes are those of no recipe that is known here", "/b": "a double barrier has members", "/s": "no client holds it",
	} {
		b.locks("ask", path).want(t, exitUsage, nil, []string{want})
	}
	if after := b.Tree("/"); after != before {
		t.Errorf("the nodes were\n%s, and are\n%s", before, after)
	}
}

func TestBreakGivesTheLockToTheNext(t *testing.T) {
	b := newBench(t)
	holder, next := b.holding()
	a := b.locks("break", "/l", "--token", holder.Token().String(), "--yes")
	a.want(t, 0, []string{"deleted " + holder.Node() + "\n"}, []string{
		"This deletes the node of web-1/4711 (session 0x", "which holds /l. It has 1 waiter.", "If the holder is alive", "a sixth of its session timeout", "What refuses older tokens",
	})
	lease := <-next
	<-holder.Lost()
	// The token is old now.
	b.locks("break", "/l", "--token", holder.Token().String(), "--yes").
		want(t, exitUsage, nil, []string{"no client holds it with token " + holder.Token().String() + "; nothing was deleted. It is held by ", "(session 0x", lease.Token().String()})
	if !lease.Valid() {
		t.Error("the second holder lost the lock")
	}
}

func TestBreakAsksFirst(t *testing.T) {
	b := newBench(t)
	node := "/l/" + curator(1, "lock-")
	b.ephemeral(node, "a")
	token := b.token(node)
	there := func(want bool) {
		t.Helper()
		if _, is := b.Node(node); is != want {
			t.Errorf("the node is there: %v", is)
		}
	}
	b.locks("break", "/l", "--token", token).want(t, exitUsage, nil, []string{"no terminal to ask on: give --yes"})
	there(true)
	b.asks = true
	for _, no := range []string{"", "y\n", "no\n", "yesterday\n"} {
		b.in = strings.NewReader(no)
		b.locks("break", "/l", "--token", token).want(t, exitUnsure, nil, []string{"Delete it? Type yes: ", "nothing was deleted"})
		there(true)
	}
	b.in = strings.NewReader("yes\n")
	b.locks("break", "/l", "--token", token).want(t, 0, []string{"deleted " + node}, nil)
	there(false)
}

// An interrupt at the question deletes nothing.
func TestAnInterruptAtTheQuestionDeletesNothing(t *testing.T) {
	b := newBench(t)
	node := "/l/" + curator(1, "lock-")
	b.ephemeral(node, "a")
	ctx, cancel := context.WithCancel(t.Context())
	in, typing := io.Pipe()
	defer typing.Close()
	var out, said output
	ended := make(chan answer)
	go func() {
		ended <- run(t, ctx, b.addrs, &Console{Out: &out, Err: &said, In: in, Asks: true}, "break", "/l", "--token", b.token(node))
	}()
	for !strings.Contains(said.String(), "Type yes") {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if a := <-ended; a.status != exitUnsure || !strings.Contains(a.err, "interrupted: nothing was deleted") {
		t.Errorf("exit status %d: %s", a.status, a.err)
	}
	if _, there := b.Node(node); !there {
		t.Error("the node is gone")
	}
}

func TestBreakAndAskWithoutThePermission(t *testing.T) {
	b := newBench(t)
	acl := append(zk.DigestACL(zk.PermAll, "owner", "secret"), zk.WorldACL(zk.PermRead|zk.PermCreate)...)
	if _, err := b.conn.Create("/l", nil, 0, acl); err != nil {
		t.Fatal(err)
	}
	node := "/l/" + curator(1, "lock-")
	if _, err := b.conn.Create(node, []byte("a"), zk.FlagEphemeral, acl); err != nil {
		t.Fatal(err)
	}
	b.locks("break", "/l", "--token", b.token(node), "--yes").want(t, exitUnsure, nil, []string{"zk: not authenticated", "--auth-file"})
	b.locks("ask", "/l").want(t, exitUnsure, nil, []string{"zk: not authenticated", "--auth-file"})
	if n, there := b.Node(node); !there || string(n.Data) != "a" {
		t.Errorf("the node is there: %v, with %q", there, n.Data)
	}
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("digest:owner:secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.locks("break", "/l", "--token", b.token(node), "--yes", "--auth-file", file).want(t, 0, []string{"deleted " + node}, nil)
}

func TestBreakDeletesTheHoldersNodeAlone(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/"+curator(1, "lock-"), "holder")
	b.ephemeral("/l/"+curator(2, "lock-"), "waiter")
	b.ephemeral("/x/x-0000000001", "id")
	b.ephemeral("/b/"+curator(1, "")[3:39], "id")
	before := b.Tree("/")
	for _, test := range []struct{ path, token, want string }{
		{"/l", b.token("/l/" + curator(2, "lock-")), "no client holds it with token"},
		{"/l", "0x7fffffffffffffff", "It is held by holder (session 0x"},
		{"/x", b.token("/x/x-0000000001"), "no recipe that is known here"},
		{"/b", b.token("/b/" + curator(1, "")[3:39]), "a double barrier has members"},
	} {
		b.locks("break", test.path, "--token", test.token, "--yes").want(t, exitUsage, nil, []string{test.want})
		if after := b.Tree("/"); after != before {
			t.Fatalf("%+v: the nodes were\n%s, and are\n%s", test, before, after)
		}
	}
	b.ephemeral("/k/"+strings.Repeat("a", 32)+"__lock__0000000001", "one")
	b.locks("break", "/k", "--token", b.token("/k/"+strings.Repeat("a", 32)+"__lock__0000000001"), "--yes").want(t, 0, []string{"deleted /k/"}, nil)
	for i := range 2 {
		b.ephemeral(fmt.Sprintf("/s/leases/%s", curator(i, "lease-")), "one")
	}
	b.locks("break", "/s", "--token", b.token("/s/leases/"+curator(0, "lease-")), "--yes").want(t, 0, []string{"deleted /s/leases/" + curator(0, "lease-")}, nil)
	if len(b.Children("/s/leases")) != 1 {
		t.Errorf("left: %v", b.Children("/s/leases"))
	}
}
