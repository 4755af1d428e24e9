package servers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/histories/service"
)

// onDisk are servers of which only the disks exist.
type onDisk struct {
	ensemble.Ensemble
	dirs []string
}

func (d onDisk) Servers() (all []ensemble.Server) {
	for i := range d.dirs {
		all = append(all, ensemble.Server{ID: i + 1})
	}
	return all
}

func (d onDisk) DataDir(_ context.Context, id int) (string, error) {
	if d.dirs[id-1] == "" {
		return "", errors.ErrUnsupported
	}
	return d.dirs[id-1], nil
}

var origin = time.UnixMilli(1_700_000_000_000)

// logger writes the log of a server, whose transactions have the zxids 1, 2 and so on.
type logger struct {
	zxid int64
	log  []byte
}

func newLogger() *logger {
	return &logger{log: []byte{0x5a, 0x4b, 0x4c, 0x47, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}}
}

// add logs a transaction at a time after the origin.
func (l *logger) add(ms int, session uint64, cxid uint32, op wire.Op, body []byte) *logger {
	l.zxid++
	x := binary.BigEndian.AppendUint64(nil, session)
	x = binary.BigEndian.AppendUint32(x, cxid)
	x = binary.BigEndian.AppendUint64(x, uint64(l.zxid))
	x = binary.BigEndian.AppendUint64(x, uint64(origin.UnixMilli()+int64(ms)))
	x = binary.BigEndian.AppendUint32(x, uint32(op))
	x = append(x, body...)
	l.log = binary.BigEndian.AppendUint64(l.log, uint64(adler32.Checksum(x)))
	l.log = binary.BigEndian.AppendUint32(l.log, uint32(len(x)))
	l.log = append(append(l.log, x...), 'B')
	return l
}

func text(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

// create logs an ephemeral node, delete its deletion, and end the end of a session with nodes.
func (l *logger) create(ms int, session uint64, path string) *logger {
	return l.add(ms, session, 5, wire.Create, append(text(path), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7))
}

// stand logs a node that outlives sessions, write a write to a node.
func (l *logger) stand(ms int, session uint64, path string) *logger {
	return l.add(ms, session, 5, wire.Create, append(text(path), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))
}

// contain logs a container.
func (l *logger) contain(ms int, session uint64, path string) *logger {
	return l.add(ms, session, 5, wire.CreateContainer, append(text(path), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))
}

func (l *logger) write(ms int, session uint64, path, data string) *logger {
	return l.add(ms, session, 6, wire.SetData, append(append(text(path), text(data)...), 0, 0, 0, 1))
}

func (l *logger) delete(ms int, session uint64, path string) *logger {
	return l.add(ms, session, 6, wire.Delete, text(path))
}

func (l *logger) end(ms int, session uint64, cxid uint32, paths ...string) *logger {
	body := binary.BigEndian.AppendUint32(nil, uint32(len(paths)))
	for _, p := range paths {
		body = append(body, text(p)...)
	}
	return l.add(ms, session, cxid, wire.CloseSession, body)
}

func (l *logger) servers(t testing.TB, n int) onDisk {
	t.Helper()
	var d onDisk
	for range n {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "log.1"), l.log, 0o600); err != nil {
			t.Fatal(err)
		}
		d.dirs = append(d.dirs, dir)
	}
	return d
}

func TestTheLivesOfNodesAreReadFromTheLogs(t *testing.T) {
	const locks, presence = "/zkverify/run-1/locks", "/zkverify/run-1/sessions"
	l := newLogger().
		create(-50, 7, "/zkverify/run-0/locks/orders/old-0000000000"). // of another run
		create(0, 1, presence+"/0x1").
		create(1, 1, locks+"/orders/a-0000000000").
		create(2, 2, locks+"/orders/b-0000000001").
		create(3, 3, locks+"/orders/c-0000000002").
		delete(4, 2, locks+"/orders/b-0000000001").
		delete(5, 9, locks+"/orders/c-0000000002").
		create(6, 3, locks+"/orders/b-0000000001"). // the path comes again
		end(7, 1, 0, presence+"/0x1", locks+"/orders/a-0000000000").
		end(8, 3, 4). // as before ZooKeeper 3.6, without the nodes
		end(9, 7, 4, "/zkverify/run-0/locks/orders/old-0000000000").
		delete(10, 2, locks+"/orders/nothing").
		create(11, 2, locks+"/revoked/a-0000000000").
		write(12, 5, locks+"/revoked/a-0000000000", "other").
		write(13, 2, locks+"/revoked/a-0000000000", "").
		write(14, 2, locks+"/nothing", "").
		stand(15, 2, locks+"/barrier").
		delete(16, 5, locks+"/barrier").
		contain(17, 2, locks+"/used").
		contain(18, 3, locks+"/used/locks").
		create(19, 2, locks+"/used/locks/a-0000000000").
		create(20, 2, locks+"/used/locks/b-0000000001").
		contain(21, 2, locks+"/unused").
		delete(22, 2, locks+"/unused").
		contain(23, 2, locks+"/written").
		write(24, 5, locks+"/written", "other").
		add(25, 0, 0, wire.DeleteContainer, text(locks+"/written")).
		contain(26, 2, "/zkverify/run-1/elsewhere")
	got, err := Service(t.Context(), l.servers(t, 3), locks, presence, Clock{origin: origin, off: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	at := func(ms, zxid int) *service.At {
		return &service.At{Zxid: int64(zxid), Time: time.Duration(ms) * time.Millisecond}
	}
	id := func(n int) string { return fmt.Sprintf("0x%016x", n) }
	want := &service.Log{
		Header: service.Header{Servers: 3, Transactions: 28, Clock: 3 * time.Millisecond},
		Nodes: []service.Node{
			{Path: "orders/a-0000000000", Session: id(1), Created: *at(1, 3), Deleted: at(7, 9), Ended: true},
			{Path: "orders/b-0000000001", Session: id(2), Created: *at(2, 4), Deleted: at(4, 6)},
			{Path: "orders/c-0000000002", Session: id(3), Created: *at(3, 5), Deleted: at(5, 7), By: id(9)},
			{Path: "orders/b-0000000001", Session: id(3), Created: *at(6, 8), Deleted: at(8, 10), Ended: true},
			{Path: "revoked/a-0000000000", Session: id(2), Created: *at(11, 13), Writes: []service.Write{
				{At: *at(12, 14), By: id(5)}, {At: *at(13, 15), Same: true},
			}},
			{Path: "used/locks/a-0000000000", Session: id(2), Created: *at(19, 21)},
			{Path: "used/locks/b-0000000001", Session: id(2), Created: *at(20, 22)},
		},
		Parents: []service.Node{
			{Path: "used", Session: id(2), Created: *at(17, 19), Used: at(18, 20)},
			{Path: "used/locks", Session: id(3), Created: *at(18, 20), Used: at(19, 21)},
			{Path: "unused", Session: id(2), Created: *at(21, 23), Deleted: at(22, 24)},
			{Path: "written", Session: id(2), Created: *at(23, 25), Deleted: at(25, 27), Writes: []service.Write{{At: *at(24, 26), By: id(5)}}},
		},
		Standing: []service.Node{{Path: "barrier", Session: id(2), Created: *at(15, 17), Deleted: at(16, 18), By: id(5)}},
		Sessions: []service.Session{{ID: id(1), Closed: at(7, 9), Expired: true}, {ID: id(3), Closed: at(8, 10)}, {ID: id(2)}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want, +got)\n%s", d)
	}
}

func TestServersWithoutFilesHereHaveNoLogs(t *testing.T) {
	if l, err := Service(t.Context(), struct{ ensemble.Ensemble }{}, "/locks", "/sessions", Clock{}); l != nil || err != nil {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := Service(t.Context(), onDisk{dirs: []string{""}}, "/locks", "/sessions", Clock{}); l != nil || err != nil {
		t.Errorf("%+v, %v; want none of servers whose files cannot be read", l, err)
	}
	if l, err := Service(t.Context(), onDisk{dirs: []string{t.TempDir()}}, "/locks", "/sessions", Clock{}); l != nil || err == nil {
		t.Errorf("%+v, %v; want an error for a folder without files", l, err)
	}
}

// The wall clock may be set in a run: times are then off by as much as it was set.
func TestTheClocksAreComparedAgain(t *testing.T) {
	c := Clock{origin: time.Now().Add(-time.Hour).Add(time.Second)}.Again(time.Hour)
	if c.off < 900*time.Millisecond || c.off > 1100*time.Millisecond {
		t.Errorf("off by %v, want by 1 s", c.off)
	}
	if c := NewClock(time.Hour).Again(time.Hour); c.off > 100*time.Millisecond {
		t.Errorf("off by %v, though nothing was set", c.off)
	}
}
