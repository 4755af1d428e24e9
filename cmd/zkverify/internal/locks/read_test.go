package locks

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

func TestLsShowsHoldersAndWaiters(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/a/"+curator(1, "lock-"), "web-1/4711")
	b.ephemeral("/l/b/"+curator(1, "lock-"), "")
	b.ephemeral("/l/b/"+curator(2, "lock-"), "web-2/12")
	b.ephemeral("/l/rw/"+curator(1, "__READ__"), "one")
	b.ephemeral("/l/rw/"+curator(2, "__READ__"), "two")
	b.ephemeral("/l/x/x-0000000001", "")
	a := b.locks("ls", "/l")
	a.want(t, 0, []string{"LOCK ", "one and 1 more"}, nil)
	lines := strings.Split(a.out, "\n")
	for i, want := range []string{
		`^LOCK +RECIPE +HOLDER +HELD +WAITERS +WAITED$`,
		`^/l/b +mutex +session 0x[0-9a-f]+ +[0-9.]+m?s +1 +[0-9.]+m?s$`,
		`^/l/x +unknown +\? +- +1 node +[0-9.]+m?s$`,
		`^/l/a +mutex +web-1/4711 +[0-9.]+m?s +0 +-$`,
		`^/l/rw +readwrite +one and 1 more +[0-9.]+m?s +0 +-$`,
	} {
		if !regexp.MustCompile(want).MatchString(lines[i]) {
			t.Errorf("line %d is %q, want %s", i, lines[i], want)
		}
	}
	var j listing
	if a := b.locks("ls", "--json", "/l"); json.Unmarshal([]byte(a.out), &j) != nil || len(j.Locks) != 4 || j.Locks[0].Path != "/l/b" ||
		j.Locks[0].Waiters != 1 || j.Locks[0].Waiter.Data != "web-2/12" || j.Locks[0].Holder.Token != b.token("/l/b/"+curator(1, "lock-")) {
		t.Errorf("JSON: %s", a.out)
	}
	b.locks("ls", "/l/x/x-0000000001").want(t, 0, []string{"no lock is held or waited for"}, nil)
}

func TestInspectShowsTheQueueInOrder(t *testing.T) {
	b := newBench(t)
	lease, err := recipes.NewMutex(b.client("a"), "/l", recipes.WithData([]byte("web-1/4711"))).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.ephemeral("/l/"+curator(5, "lock-"), "\x1b[31mred\n\u202e")
	b.plant("/l/readme", "", 0)
	a := b.locks("inspect", "/l")
	a.want(t, 0, []string{"/l: mutex, 1 holder, 1 waiter\n", `\u001b[31mred\n\u202e`, "1 child node that are not of this recipe"}, nil)
	for _, want := range []string{
		`(?m)^1 +holds +[0-9.]+m?s +` + lease.Token().String() + ` +0x[0-9a-f]+ +alive +\S+:\d+ +web-1/4711 +_c_\S+-lock-0000000000$`,
		`(?m)^2 +waits +[0-9.]+m?s +0x[0-9a-f]+ +0x[0-9a-f]+ +alive +\S+:\d+ +\S+ +_c_00000005\S+-lock-0000000005$`,
	} {
		if !regexp.MustCompile(want).MatchString(a.out) {
			t.Errorf("no line %s in\n%s", want, a.out)
		}
	}
	var j details
	if a := b.locks("inspect", "--json", "/l"); json.Unmarshal([]byte(a.out), &j) != nil || len(j.Queue) != 2 || j.Queue[0].SessionIs != "alive" || j.Queue[0].State != "holds" || j.Queue[1].State != "waits" || len(j.Foreign) != 1 {
		t.Errorf("JSON: %s", a.out)
	}
}

func TestInspectNamesWhatEachRecipeHas(t *testing.T) {
	b := newBench(t)
	b.plant("/k", "3", 0)
	b.ephemeral("/k/"+strings.Repeat("a", 32), "one")
	b.ephemeral("/e/"+curator(1, "latch-"), "one")
	b.plant("/b/ready", "", 0)
	b.ephemeral("/b/"+curator(1, "")[3:39], "late")
	b.ephemeral("/x/x-0000000001", "")
	for path, want := range map[string]string{
		"/k": "/k: semaphore (kazoo), 1 permit of 3 out, 0 waiters\n",
		"/e": "/e: election, 1 leader, 0 other candidates\n",
		"/b": "ago, 1 member outside it\n",
		"/x": "/x: unknown: 1 node that no recipe names so\n",
	} {
		b.locks("inspect", path).want(t, 0, []string{want}, nil)
	}
}

// Commands that only read leave every node as it is, and create none.
func TestReadingWritesNothing(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/"+curator(1, "lock-"), "a")
	b.plant("/l/"+curator(2, "lock-"), "b", 0)
	b.ephemeral("/s/locks/"+curator(3, "lock-"), "c")
	b.plant("/s/leases", "", 0)
	before := b.Tree("/")
	for _, args := range [][]string{
		{"ls", "/"}, {"inspect", "/l"}, {"inspect", "/none"}, {"doctor", "--observe", "1ms", "/"}, {"doctor", "--size", "/s=/none", "/"},
		{"watch", "--count", "1", "--interval", "1ms", "/"}, {"break", "/l", "--token", "1"}, {"break", "/l", "--token", b.token("/l/" + curator(1, "lock-"))},
	} {
		b.locks(args...)
		if after := b.Tree("/"); after != before {
			t.Fatalf("%v: the nodes were\n%s, and are\n%s", args, before, after)
		}
	}
}

func TestBadInputIsRefusedWithASentence(t *testing.T) {
	b := newBench(t)
	b.plant("/folder/file", "", 0)
	b.ephemeral("/l/"+curator(1, "lock-"), "")
	for _, test := range []struct {
		args string
		want string
	}{
		{"ls /none", "/none: zk: node does not exist"},
		{"ls none", `"none": recipes: bad lock path`},
		{"watch /none", "/none: zk: node does not exist"},
		{"doctor /none", "/none: zk: node does not exist"},
		{"inspect /folder", "no lock: its children are no contenders"},
		{"inspect /folder/file", "no client holds it or waits for it"},
		{"inspect /none", "zk: node does not exist"},
		{"ask /folder", "no lock"},
		{"break /folder --token 1 --yes", "no lock"},
		{"break /l --token x", `--token: "x" is not a token`},
		{"break /l --token=-5", `--token: "-5" is not a token`},
		{"break /l", "missing flags: --token"},
		{"ls", `expected "<path>`},
		{"watch --interval 0s /l", "--interval must be positive"},
		{"watch --count=-1 /l", "--count must not be negative"},
		{"doctor --long 0s /l", "--long must be positive"},
		{"doctor --size /l=many /l", "--size: /l=many is not"},
		{"doctor --size /l=/none /l", "--size: /none: zk: node does not exist"},
		{"doctor --size /l=/folder /l", "bad shared count"},
		{"ls --timeout 0s /l", "--timeout must be positive"},
		{"ls --tls-key f /l", "--tls-key goes with --tls-cert"},
		{"ls --tls-ca /none /l", "--tls-ca: open /none"},
		{"ls --tls-cert /none /l", "--tls-cert: open /none"},
		{"ls --auth-file /none /l", "--auth-file: open /none"},
	} {
		t.Run(test.args, func(t *testing.T) {
			b.locks(strings.Fields(test.args)...).want(t, exitUsage, nil, []string{test.want})
		})
	}
	var out, said output
	for servers, want := range map[string]string{
		"localhost:http":       `--servers: recipes: bad servers: "localhost:http" has no port`,
		"zk://localhost:2181":  "is a URL",
		"localhost:2181/app/":  "the chroot \"/app/\" is no path of ZooKeeper",
		"localhost:2181, b:80": "has a space",
	} {
		run(t, t.Context(), servers, &Console{Out: &out, Err: &said}, "ls", "/").want(t, exitUsage, nil, []string{want})
	}
}

func TestNoServersIsAStatusOfItsOwn(t *testing.T) {
	addr := closedPort(t)
	for _, args := range [][]string{{"ls", "/l"}, {"inspect", "/l"}, {"watch", "/l"}, {"doctor", "/l"}, {"ask", "/l"}, {"break", "/l", "--token", "1", "--yes"}} {
		var out, said output
		run(t, t.Context(), addr, &Console{Out: &out, Err: &said}, append(args, "--timeout", "500ms")...).
			want(t, exitUnavailable, nil, []string{"no connection to " + addr, "connection refused"})
	}
}

func TestWhatMayNotBeReadIsSaid(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/open/"+curator(1, "lock-"), "")
	owner := b.raw("owner")
	if err := owner.AddAuth("digest", []byte("owner:secret")); err != nil {
		t.Fatal(err)
	}
	mine := zk.DigestACL(zk.PermAll, "owner", "secret")
	for node, flags := range map[string]int32{"/l/open/" + curator(2, "lock-"): zk.FlagEphemeral, "/l/shut": 0} {
		if _, err := owner.Create(node, []byte("hidden"), flags, mine); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := owner.Create("/l/shut/"+curator(3, "lock-"), nil, zk.FlagEphemeral, mine); err != nil {
		t.Fatal(err)
	}
	b.locks("ls", "/l").want(t, exitUnsure, []string{"/l/open"}, []string{"/l/shut could not be read", "--auth-file"})
	b.locks("doctor", "/l").want(t, exitUnsure, []string{"1 lock examined, 0 findings"}, []string{"/l/shut could not be read"})
	b.locks("inspect", "/l/open").want(t, 0, []string{"(no permission to read)"}, nil)
	b.locks("inspect", "/l/shut").want(t, exitUnsure, nil, []string{"--auth-file"})
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("digest:owner:secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.locks("ls", "--auth-file", file, "/l").want(t, 0, []string{"/l/shut"}, nil)
	b.locks("inspect", "--auth-file", file, "/l/open").want(t, 0, []string{"hidden"}, nil)
}

// relayed returns the addresses of relays in front of the servers. A relay calls heard with the
// first four letters of a connection and answers with its result; if that is "", it passes the
// connection on to the server.
func (b *bench) relayed(heard func(word string) string) string {
	b.T.Helper()
	var addrs []string
	for _, server := range strings.Split(b.addrs, ",") {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.T.Fatal(err)
		}
		b.T.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				near, err := l.Accept()
				if err != nil {
					return
				}
				go relay(near, server, heard)
			}
		}()
		addrs = append(addrs, l.Addr().String())
	}
	return strings.Join(addrs, ",")
}

func relay(near net.Conn, server string, heard func(word string) string) {
	defer near.Close()
	word := make([]byte, 4)
	if _, err := io.ReadFull(near, word); err != nil {
		return
	}
	if answer := heard(string(word)); answer != "" {
		_, _ = io.WriteString(near, answer)
		return
	}
	far, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer far.Close()
	if _, err := far.Write(word); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(far, near)
		_ = far.Close()
	}()
	_, _ = io.Copy(near, far)
}

// notAllowed returns the answer of servers that allow no four-letter words but srvr.
func notAllowed(word string) string {
	if word == "cons" || word == "dump" {
		return word + " is not executed because it is not in the whitelist.\n"
	}
	return ""
}

func TestServersThatAllowNoFourLetterWords(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/"+curator(1, "lock-"), "a")
	b.addrs = b.relayed(notAllowed)
	first := strings.Split(b.addrs, ",")[0]
	a := b.locks("inspect", "/l")
	a.want(t, 0, []string{first + " does not tell of its sessions: cons: the server does not allow this four-letter word (4lw.commands.whitelist)"}, nil)
	if !regexp.MustCompile(`(?m)^1 +holds .* unknown +- +a +_c_`).MatchString(a.out) {
		t.Errorf("the session is not unknown:\n%s", a.out)
	}
	b.locks("doctor", "/l").want(t, 0, []string{"0 findings"}, []string{first + " does not tell"})
}

// Requests that are under way end when the command is interrupted.
func TestAnInterruptEndsACommand(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/"+curator(1, "lock-"), "a")
	ctx, cancel := context.WithCancel(t.Context())
	b.Client("operator").Cut() // no answer comes
	ended := make(chan answer)
	go func() {
		var out, said output
		ended <- run(t, ctx, b.addrs, &Console{Out: &out, Err: &said}, "ls", "/l")
	}()
	cancel()
	if a := <-ended; a.status != exitUnsure || !strings.Contains(a.err, "interrupted") {
		t.Errorf("exit status %d: %s", a.status, a.err)
	}
}

// With a chroot in the connect string, all commands work as without one: printed paths can be
// passed to the next command.
func TestEveryCommandTakesAChroot(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/app/l/m/"+curator(1, "lock-"), "web-1/7")
	b.ephemeral("/app/l/m/"+curator(2, "lock-"), "web-2/8")
	b.ephemeral("/l/m/"+curator(3, "lock-"), "other/9")
	b.plant("/app/l/m/readme", "", 0)
	if err := recipes.NewSharedCount(b.client("count"), "/app/size", 1).Set(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	b.plant("/app/left", "", 0)
	all := b.addrs
	b.addrs = all + "/app"
	token := b.token("/app/l/m/" + curator(1, "lock-"))
	b.locks("ls", "/").want(t, 0, []string{"\n/l/m ", "web-1/7"}, nil)
	b.locks("inspect", "/l/m").want(t, 0, []string{"/l/m: mutex", "web-1/7", "web-2/8"}, nil)
	b.locks("watch", "--interval", "100ms", "--count", "1", "/").want(t, 0, []string{"\n/l/m "}, nil)
	b.doctor("--size", "/l/pool=/size", "--unused", "1ns", "--remove", "/").want(t, exitFound,
		[]string{"/l/m: 1 child node", "/l/m/readme\n", "/left: empty for "}, []string{"removed /left"})
	b.locks("ask", "/l/m").want(t, 0, []string{"to release /l/m\n"}, nil)
	if n, _ := b.Node("/app/l/m/" + curator(1, "lock-")); string(n.Data) != "__REVOKE__" {
		t.Errorf("the holder's node has %q", n.Data)
	}
	b.locks("break", "/l/m", "--token", token, "--yes").want(t, 0, []string{"deleted /l/m/" + curator(1, "lock-")}, nil)
	for node, want := range map[string]bool{"/app/l/m/" + curator(1, "lock-"): false, "/app/l/m/" + curator(2, "lock-"): true, "/l/m/" + curator(3, "lock-"): true, "/app/left": false} {
		if _, there := b.Node(node); there != want {
			t.Errorf("%s is there: %v", node, there)
		}
	}
	b.addrs = all + "/none"
	b.locks("ls", "/").want(t, exitUsage, nil, []string{"--servers: the chroot /none does not exist"})
}

// Only the root's own /zookeeper is the servers'. Below a chroot, and deeper in the tree, the name
// is an ordinary one.
func TestALockBelowANodeNamedZookeeper(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/app/zookeeper/m/"+curator(1, "lock-"), "web-1/7")
	b.plant("/app/zookeeper/left", "", 0)
	all := b.addrs
	for chroot, prefix := range map[string]string{"": "/app", "/app": ""} {
		b.addrs = all + chroot
		b.locks("ls", "/").want(t, 0, []string{"\n" + prefix + "/zookeeper/m ", "web-1/7"}, nil)
		b.doctor("--unused", "1ns", "/").want(t, exitFound, []string{prefix + "/zookeeper/left: empty for ", "1 finding\n"}, nil)
	}
}
