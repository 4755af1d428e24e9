package txnlog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start starts three real servers and returns them, with a function that returns the
// files of each.
func start(t *testing.T, properties ...string) (*ensemble.Local, func(id int) txnlog.Dir) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs servers")
	}
	ensembletest.Real(t, "what ZooKeeper writes to disk is what is read")
	if ensembletest.Simulated(t) {
		t.Skip("needs real servers")
	}
	ensembletest.Turn(t)
	dir := t.TempDir()
	l, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{Dir: dir, Properties: properties})
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l, func(id int) txnlog.Dir {
		t.Helper()
		d, err := txnlog.Open(filepath.Join(dir, fmt.Sprintf("server-%d", id), "data"))
		must(t, err)
		return d
	}
}

func dial(t *testing.T, l *ensemble.Local) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect([]string{l.Servers()[0].Addr}, 10*time.Second, zk.WithLogInfo(false))
	must(t, err)
	for e := range events {
		if e.State == zk.StateHasSession {
			return conn
		}
	}
	t.Fatal("no session")
	return nil
}

// written is a transaction as a client has seen it.
type written struct {
	Session int64
	Op      wire.Op
	Changes []txnlog.Change
	Err     wire.Code
}

// transactions returns the transactions of these sessions, as server 1 logged them, once
// all servers have as many.
func transactions(t *testing.T, dir func(int) txnlog.Dir, sessions ...int64) []txnlog.Txn {
	t.Helper()
	all := make([][]txnlog.Txn, 3)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		for i := range all {
			all[i] = nil
			for x, err := range dir(i + 1).Transactions() {
				must(t, err)
				if slices.Contains(sessions, x.Session) {
					all[i] = append(all[i], x)
				}
			}
		}
		if len(all[0]) == len(all[1]) && len(all[1]) == len(all[2]) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the servers have %d, %d and %d transactions", len(all[0]), len(all[1]), len(all[2]))
		}
	}
	for i := range all {
		if d := cmp.Diff(all[0], all[i]); d != "" {
			t.Errorf("servers 1 and %d (-, +):\n%s", i+1, d)
		}
	}
	return all[0]
}

func TestTheLogsHaveWhatClientsDid(t *testing.T) {
	l, dir := start(t)
	conn := dial(t, l)
	session := conn.SessionID()
	acl := zk.WorldACL(zk.PermAll)
	var want []written
	did := func(op wire.Op, changes ...txnlog.Change) {
		want = append(want, written{Session: session, Op: op, Changes: changes})
	}
	// go-zookeeper sends create, not create2, unless it wants the stat.
	_, err := conn.Create("/a", []byte("data"), 0, acl)
	must(t, err)
	did(wire.Create, txnlog.Change{Op: wire.Create, Path: "/a", Data: []byte("data")})
	lock, err := conn.Create("/a/lock-", nil, zk.FlagEphemeralSequential, acl)
	must(t, err)
	did(wire.Create, txnlog.Change{Op: wire.Create, Path: lock, Ephemeral: true})
	_, err = conn.CreateContainer("/c", []byte{}, zk.FlagContainer, acl)
	must(t, err)
	did(wire.CreateContainer, txnlog.Change{Op: wire.Create, Path: "/c", Data: []byte{}, Container: true})
	_, err = conn.CreateTTL("/t", nil, zk.FlagTTL, acl, time.Hour)
	must(t, err)
	did(wire.CreateTTL, txnlog.Change{Op: wire.Create, Path: "/t", TTL: time.Hour})
	_, err = conn.Set("/a", []byte("new"), 0)
	must(t, err)
	did(wire.SetData, txnlog.Change{Op: wire.SetData, Path: "/a", Data: []byte("new"), Version: 1})
	_, err = conn.SetACL("/a", acl, 0)
	must(t, err)
	did(wire.SetACL, txnlog.Change{Op: wire.SetACL, Path: "/a", Version: 1})
	_, err = conn.Multi(&zk.CheckVersionRequest{Path: "/a", Version: 1}, &zk.CreateRequest{Path: "/m", Acl: acl}, &zk.SetDataRequest{Path: "/a", Data: []byte("x"), Version: -1}, &zk.DeleteRequest{Path: "/t", Version: -1})
	must(t, err)
	did(wire.Multi, txnlog.Change{Op: wire.Check, Path: "/a", Version: 1}, txnlog.Change{Op: wire.Create, Path: "/m"},
		txnlog.Change{Op: wire.SetData, Path: "/a", Data: []byte("x"), Version: 2}, txnlog.Change{Op: wire.Delete, Path: "/t"})
	if _, err = conn.Multi(&zk.DeleteRequest{Path: "/m", Version: -1}, &zk.CheckVersionRequest{Path: "/a", Version: 99}, &zk.DeleteRequest{Path: "/m", Version: -1}); err == nil {
		t.Fatal("a check of a wrong version succeeded")
	}
	want = append(want, written{Session: session, Op: wire.Multi, Err: wire.BadVersion})
	must(t, conn.Delete("/m", -1))
	did(wire.Delete, txnlog.Change{Op: wire.Delete, Path: "/m"})
	if _, err = conn.Create("/a", nil, 0, acl); err == nil {
		t.Fatal("created twice")
	}
	want = append(want, written{Session: session, Op: wire.ErrorOp, Err: wire.NodeExists})
	_, stat, err := conn.Get(lock)
	must(t, err)
	czxid := stat.Czxid
	conn.Close()
	did(wire.CloseSession, txnlog.Change{Op: wire.Delete, Path: lock})

	var got []written
	for _, x := range transactions(t, dir, session) {
		if x.Op == wire.CreateSession {
			if x.Timeout != 10*time.Second || len(got) > 0 {
				t.Errorf("%+v", x)
			}
			continue
		}
		if since := time.Since(x.Time); since < 0 || since > time.Minute {
			t.Errorf("0x%x was %v ago", x.Zxid, since)
		}
		if x.Digest == 0 && x.Err == wire.OK {
			t.Errorf("0x%x has no digest", x.Zxid)
		}
		if len(x.Changes) > 0 && x.Changes[0].Path == lock && x.Op == wire.Create && x.Zxid != czxid {
			t.Errorf("%s was created by 0x%x, its czxid is 0x%x", lock, x.Zxid, czxid)
		}
		got = append(got, written{x.Session, x.Op, x.Changes, x.Err})
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want, +got)\n%s", d)
	}
}

func TestASnapshotHasTheTree(t *testing.T) { snapshotHasTheTree(t, "snapshot.*[0-9a-f]") }
func TestASnapshotOfGzipHasTheTree(t *testing.T) {
	snapshotHasTheTree(t, "snapshot.*.gz", "zookeeper.snapshot.compression.method=gz")
}
func TestASnapshotOfSnappyHasTheTree(t *testing.T) {
	snapshotHasTheTree(t, "snapshot.*.snappy", "zookeeper.snapshot.compression.method=snappy")
}

// A server writes a snapshot when it becomes the leader.
func snapshotHasTheTree(t *testing.T, name string, properties ...string) {
	t.Helper()
	l, dir := start(t, properties...)
	conn := dial(t, l)
	defer conn.Close()
	acl := zk.WorldACL(zk.PermRead | zk.PermWrite | zk.PermCreate | zk.PermDelete)
	for i := range 100 {
		_, err := conn.Create(fmt.Sprintf("/n%03d", i), fmt.Append(nil, i), int32(i%2*zk.FlagEphemeral), acl)
		must(t, err)
	}
	session := conn.SessionID()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	leader, err := l.Leader(ctx)
	must(t, err)
	must(t, l.Restart(ctx, leader))
	var s *txnlog.Snapshot
	for id := 1; id <= 3; id++ {
		d := dir(id)
		if is, _ := filepath.Match(name, filepath.Base(d.Snapshots[len(d.Snapshots)-1])); !is {
			t.Fatalf("%v", d.Snapshots)
		}
		newest, err := txnlog.ReadSnapshot(d.Snapshots[len(d.Snapshots)-1])
		must(t, err)
		if s == nil || newest.Zxid > s.Zxid {
			s = newest
		}
	}
	if s.Sessions[session] != 10*time.Second {
		t.Errorf("sessions: %v, want 0x%x", s.Sessions, session)
	}
	found := make(map[string]txnlog.Node)
	for _, n := range s.Nodes {
		found[n.Path] = n
	}
	if _, ok := found["/"]; !ok || s.Zxid == 0 {
		t.Errorf("zxid 0x%x, the root is there: %v", s.Zxid, ok)
	}
	for i := range 100 {
		path := fmt.Sprintf("/n%03d", i)
		_, stat, err := conn.Get(path)
		must(t, err)
		n := found[path]
		if string(n.Data) != fmt.Sprint(i) || n.Czxid != stat.Czxid || n.Mzxid != stat.Mzxid || n.Pzxid != stat.Pzxid ||
			n.Owner != stat.EphemeralOwner || n.Created.UnixMilli() != stat.Ctime || n.Version != stat.Version {
			t.Fatalf("%s: %+v, want %+v", path, n, stat)
		}
	}
}

// A folder without files of ZooKeeper is reported as one.
func TestAFolderOfSomethingElse(t *testing.T) {
	empty := t.TempDir()
	must(t, os.WriteFile(filepath.Join(empty, "log.txt"), []byte("hello"), 0o600))
	if d, err := txnlog.Open(empty); err == nil {
		t.Errorf("%v", d)
	}
	if _, err := txnlog.Open(filepath.Join(empty, "missing")); !os.IsNotExist(err) {
		t.Error(err)
	}
}
