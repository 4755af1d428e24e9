package txnlog_test

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
)

// entry is a transaction of a log: a delete of a path, and the digest behind it.
type entry struct {
	zxid   int64
	path   string
	digest int64
}

// deletes returns entries with these zxids, the same in each log.
func deletes(zxids ...int64) (all []entry) {
	for _, z := range zxids {
		all = append(all, entry{z, fmt.Sprintf("/n%d", z), z * 7})
	}
	return all
}

func serverDir(t testing.TB, entries []entry, snapshots ...int64) txnlog.Dir {
	t.Helper()
	dir := t.TempDir()
	log := []byte{0x5a, 0x4b, 0x4c, 0x47, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}
	for _, e := range entries {
		var x []byte
		x = binary.BigEndian.AppendUint64(x, 0x1234)
		x = binary.BigEndian.AppendUint32(x, 1)
		x = binary.BigEndian.AppendUint64(x, uint64(e.zxid))
		x = binary.BigEndian.AppendUint64(x, 1_700_000_000_000)
		x = binary.BigEndian.AppendUint32(x, uint32(wire.Delete))
		x = binary.BigEndian.AppendUint32(x, uint32(len(e.path)))
		x = append(x, e.path...)
		x = binary.BigEndian.AppendUint32(x, 2)
		x = binary.BigEndian.AppendUint64(x, uint64(e.digest))
		log = binary.BigEndian.AppendUint64(log, uint64(adler32.Checksum(x)))
		log = binary.BigEndian.AppendUint32(log, uint32(len(x)))
		log = append(append(log, x...), 'B')
	}
	must(t, os.WriteFile(filepath.Join(dir, "log.1"), log, 0o600))
	for _, z := range snapshots {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("snapshot.%x", z)), nil, 0o600))
	}
	d, err := txnlog.Open(dir)
	must(t, err)
	return d
}

func TestLogsThatContradictEachOther(t *testing.T) {
	with := func(entries []entry, change func([]entry)) []entry { change(entries); return entries }
	const epoch = 1 << 32
	for name, test := range map[string]struct {
		one, two, three []entry
		snapshots       []int64 // of the second
		zxid            int64   // 0 if they do not
		server          int
		says            string
	}{
		"the same":             {one: deletes(1, 2, 3), two: deletes(1, 2, 3), three: deletes(1, 2, 3)},
		"one lags behind":      {one: deletes(1, 2, 3), two: deletes(1), three: deletes(1, 2, 3)},
		"one has nothing":      {one: deletes(1, 2, 3), three: deletes(1, 2)},
		"one begins late":      {one: deletes(1, 2, 3, 4), two: deletes(3, 4), three: deletes(1, 2, 3, 4)},
		"one was sent a tree":  {one: deletes(1, 2, 3, 4), two: deletes(1, 4), three: deletes(1, 2, 3, 4), snapshots: []int64{3}},
		"proposals are left":   {one: deletes(1, 2, epoch+1), two: deletes(1, 2, 3), three: deletes(1, 2, epoch+1)},
		"one lost a write":     {one: deletes(1, 2, 3, 4), two: deletes(1, 3, 4), three: deletes(1, 2, 3, 4), zxid: 2, server: 2, says: "server 1 alone has it, and both have 0x3"},
		"one kept a proposal":  {one: deletes(1, 2, epoch+1), two: deletes(1, 2, 3, epoch+1), three: deletes(1, 2, epoch+1), zxid: 3, server: 2, says: "server 2 alone has it"},
		"a snapshot elsewhere": {one: deletes(1, 2, 3, 4), two: deletes(1, 3, 4), three: deletes(1, 2, 3, 4), snapshots: []int64{1, 3}, zxid: 2, server: 2},
		"another transaction": {one: deletes(1, 2, 3), two: with(deletes(1, 2, 3), func(e []entry) { e[1].path = "/else" }), three: deletes(1, 2, 3),
			zxid: 2, server: 2, says: "different transactions"},
		"another tree": {one: deletes(1, 2, 3), two: deletes(1, 2, 3), three: with(deletes(1, 2, 3), func(e []entry) { e[2].digest++ }),
			zxid: 3, server: 3, says: "different trees"},
		"one wrote it twice": {one: deletes(1, 2, 3), two: append(deletes(1, 2, 3), deletes(2, 3, 4)...), three: deletes(1, 2, 3, 4)},
		"no digest":          {one: deletes(1, 2, 3), two: with(deletes(1, 2, 3), func(e []entry) { e[2].digest = 0 }), three: deletes(1, 2, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := txnlog.Compare(map[int]txnlog.Dir{1: serverDir(t, test.one), 2: serverDir(t, test.two, test.snapshots...), 3: serverDir(t, test.three)})
			must(t, err)
			switch {
			case d == nil && test.zxid != 0:
				t.Errorf("no difference is found, want one at 0x%x", test.zxid)
			case d != nil && (d.Zxid != test.zxid || d.Server != test.server || !strings.Contains(d.String(), test.says)):
				t.Errorf("%v, want one at 0x%x of server %d: %s", d, test.zxid, test.server, test.says)
			}
		})
	}
}

// Of three servers with 100,000 transactions each.
func BenchmarkCompare(b *testing.B) {
	zxids := make([]int64, 100_000)
	for i := range zxids {
		zxids[i] = int64(i + 1)
	}
	entries := deletes(zxids...)
	servers := map[int]txnlog.Dir{1: serverDir(b, entries), 2: serverDir(b, entries), 3: serverDir(b, entries)}
	for b.Loop() {
		if d, err := txnlog.Compare(servers); d != nil || err != nil {
			b.Fatal(d, err)
		}
	}
}
