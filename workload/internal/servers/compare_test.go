package servers

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/histories"
)

// A follower forgets that a node was deleted, and that another was written.
func TestAServerThatForgetsIsToldFromTheOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers")
	}
	ensembletest.Turn(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	servers, err := ensemble.StartLocal(ctx, ensemble.LocalConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	leader, err := servers.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	forgets := leader%3 + 1 // a follower
	var others []string
	for _, s := range servers.Servers() {
		if s.ID != forgets {
			others = append(others, s.Addr)
		}
	}
	conn, events, err := zk.Connect(others, 30*time.Second, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}

	const lock, node, counter = "/run/lock", "/run/lock/contender", "/run/counter"
	for _, path := range []string{"/run", lock, counter} {
		if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Create(node, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Delete(node, -1); err != nil {
		t.Fatal(err)
	}
	before, err := conn.Set(counter, []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	after, err := conn.Set(counter, []byte("2"), 1)
	if err != nil {
		t.Fatal(err)
	}
	origin := time.Now()
	var zxids Times
	diverged := func(before Divergences) (Divergences, []histories.Divergence, error) {
		return zxids.DivergedServers(ctx, servers, time.Since(origin), before)
	}
	compare := func(want ...string) {
		t.Helper()
		if got, err := Compare(ctx, servers.Servers(), ensemble.Credentials{}, "/run"); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
	}
	compare()

	if err := servers.Kill(ctx, forgets); err != nil {
		t.Fatal(err)
	}
	killed := time.Since(origin)
	logs, err := filepath.Glob(filepath.Join(dir, "*"+strconv.Itoa(forgets), "data", "version-2", "log.*"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	if found, how, err := zxids.DivergedLogs(ctx, servers); len(found) > 0 || err != nil {
		t.Errorf("before the server forgets: %v, %q, %v", found, how, err)
	}
	forgetLast(t, logs[0], node)
	forgetLast(t, logs[0], counter)
	if err := servers.Restart(ctx, forgets); err != nil {
		t.Fatal(err)
	}
	has := func(id int) string {
		zxid := after.Mzxid
		if id == forgets {
			zxid = before.Mzxid
		}
		return fmt.Sprintf("server %d of 0x%x", id, zxid)
	}
	old := "the servers have " + counter + " of different transactions: " + has(1) + ", " + has(2) + ", " + has(3)
	only := "only 1 of 3 servers (" + strconv.Itoa(forgets) + ") have " + node
	compare(old, only)
	inLogs, how, err := zxids.DivergedLogs(ctx, servers)
	if err != nil || len(inLogs) != 1 || inLogs[0].Server != forgets || inLogs[0].Zxid != before.Mzxid-1 || !strings.HasSuffix(how, "they have different transactions there") {
		t.Errorf("%v, %q, %v; want server %d to differ at the delete of the node", inLogs, how, err, forgets)
	}

	// The parent goes, as a container does, since the leader knows of no child.
	if err := conn.Delete(lock, -1); err != nil {
		t.Fatal(err)
	}
	compare(old, only)

	// It loses its tree, and is sent the leader's: only its output shows that.
	if err := servers.Kill(ctx, forgets); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(logs[0])); err != nil {
		t.Fatal(err)
	}
	if err := servers.Restart(ctx, forgets); err != nil {
		t.Fatal(err)
	}
	compare()
	counted, found, err := diverged(nil)
	if err != nil || len(found) == 0 || found[0].Server != forgets || found[0].Zxid < before.Mzxid-1 || found[0].Zxid > after.Mzxid {
		t.Fatalf("%v, %v; want server %d, at the delete of the node", found, err, forgets)
	}
	if since := found[0].Since; since < killed-loading || since > time.Since(origin) {
		t.Errorf("right until %v; it was killed at %v, and forgot after that", since, killed)
	}
	if _, found, err := diverged(counted); err != nil || len(found) > 0 {
		t.Errorf("%v, %v; all of that was before", found, err)
	}
}

// forgetLast changes the last transaction about a node in a server's log into one about another
// node, which does not exist, so that it has no effect. A server of 3.9.4 or newer refuses a
// log with a gap.
func forgetLast(t *testing.T, log, node string) {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	// A header of 16 bytes; for each transaction 8 bytes of checksum, 4 of length,
	// itself, and the letter B; and zeros up to the size that was set aside.
	from, to := 0, 0
	for at := 16; at+12 < len(data); {
		size := int(binary.BigEndian.Uint32(data[at+8:]))
		if size == 0 {
			break
		}
		next := at + 12 + size + 1
		if bytes.Contains(data[at:next], []byte(node)) {
			from, to = at, next
		}
		at = next
	}
	if to == 0 {
		t.Fatal("no transaction tells of ", node)
	}
	txn := data[from+12 : to-1]
	at := bytes.LastIndex(txn, []byte(node)) + len(node) - 1
	txn[at] = '_'
	binary.BigEndian.PutUint64(data[from:], uint64(adler32.Checksum(txn)))
	if err := os.WriteFile(log, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDumpedPaths(t *testing.T) {
	dump := strings.Join([]string{
		"SessionTracker dump:", "Global Sessions(2):", "0x1\t2000ms", "ephemeral nodes dump:", "Sessions with Ephemerals (2):",
		"0x1:", "\t/run/a/x", "\t/running/a", "0x2:", "\t/run/b", "\t/other/run/b", "Connections dump:", "/run/c",
	}, "\n")
	if got, want := dumpedPaths(dump, "/run"), []string{"/run/a/x", "/run/b"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	if got := dumpedPaths("dump is not executed because it is not in the whitelist.\n", "/run"); got != nil {
		t.Errorf("%q of a server that does not tell", got)
	}
}

// silent discards the log of go-zookeeper.
type silent struct{}

func (silent) Printf(string, ...any) {}

func TestServersThatDisagreeAreNamed(t *testing.T) {
	got := differ(map[int]view{1: {"/a": 5, "/b": 6, "/c": 7}, 2: {"/a": 5, "/c": 16}, 3: {"/a": 5, "/b": 6, "/c": 16}})
	if want := []string{
		"only 2 of 3 servers (1, 3) have /b",
		"the servers have /c of different transactions: server 1 of 0x7, server 2 of 0x10, server 3 of 0x10",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}
