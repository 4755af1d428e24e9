package locks

import (
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// night is a server whose locks have had an eventful night.
func night(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	node := func(n int) string { return "/locks/orders/" + curator(n, "lock-") }
	for i := range 4 {
		s.create(int64(i+1), node(i+1))
	}
	s.del(1, node(1))                         // 03:00:05
	s.now = s.now.Add(299e9)                  // client-2 holds for five minutes
	s.txn(2, 0, wire.CloseSession, nil)       // 03:05:05
	s.del(9, node(3))                         // 03:05:06
	s.create(5, "/q/e/"+curator(1, "latch-")) // 03:05:07
	return s
}

func TestHistoryInWords(t *testing.T) {
	dir := night(t).write()
	history(t, dir).want(t, 0, []string{
		"8 transactions from 2026-01-02 03:00:01 to 2026-01-02 03:05:07 UTC, 1 folder\n",
		"LOCK           RECIPE    HOLDS  LONGEST  WAITED  QUEUE  LOST\n/locks/orders  mutex     4      5m0s     5m2s    3      2\n",
		"\nLongest holds\n2026-01-02 03:00:05  5m0s  session expired  /locks/orders  client-2\n",
		"\nLongest waits\n2026-01-02 03:00:03  5m2s  granted  /locks/orders  client-3\n2026-01-02 03:00:04  5m2s  granted",
		"\nLongest queues\n2026-01-02 03:00:04  3 ahead  /locks/orders\n",
		"\nLost: expired, or deleted by another session (2)\n2026-01-02 03:05:05  5m0s  session expired  /locks/orders  client-2\n2026-01-02 03:05:06  1s    by 0x9 ",
	}, nil)
	history(t, "--path", "/locks/orders", dir).want(t, 0, []string{
		"GRANTED, OR CAME         HELD    WAITED  AHEAD  ENDED            HOLDER\n",
		"2026-01-02 03:00:05.000  5m0s    3s      1      session expired  client-2\n",
		"2026-01-02 03:05:06.000  1s      5m2s    3      still there      client-4\n",
	}, nil)
	history(t, "--at", "2026-01-02 03:03", "--path", "/locks", dir).want(t, 0, []string{
		"at 2026-01-02 03:03:00 UTC:\n",
		"LOCK           STATE  FOR    THEN             AFTER  HOLDER\n/locks/orders  holds  2m55s  session expired  2m5s   client-2\n/locks/orders  waits  2m57s  granted          2m5s   client-3\n",
	}, nil)
	history(t, "--at", "2026-01-02 03:05:07", dir).want(t, 0, []string{"holds  1s   still there  0s     client-4\n"}, nil)
	if got := told(t, "--from", "2026-01-02T03:05:06Z", "--path", "/locks", dir); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := told(t, "--to", "2026-01-02 03:00:02", dir); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// The table and the lists fit into a terminal of 80 columns.
func TestHistoryFits80Columns(t *testing.T) {
	s := newServer(t)
	lock := "/" + strings.Repeat("long/", 30)
	for i := range 3 {
		s.txn(1, 1, wire.Create, createBody(lock+curator(i, "lock-"), strings.Repeat("x", 200), true))
	}
	s.now = s.now.Add(100 * 24 * 3600e9)
	s.txn(1, 0, wire.CloseSession, nil)
	s.create(7, lock+curator(7, "lock-"))
	dir := s.write()
	for _, args := range [][]string{{dir}, {"--path", strings.TrimSuffix(lock, "/"), dir}, {"--at", "2026-02-01", dir}} {
		var out, said output
		runCommand(t, t.Context(), &Console{Out: &out, Err: &said, Screen: &out, Size: func() (int, int) { return 80, 24 }}, append([]string{"history"}, args...)...).want(t, 0, nil, nil)
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
				t.Errorf("%v: %d columns: %s", args, n, line)
			}
		}
	}
}

func TestHistoryRefusesBadInputs(t *testing.T) {
	dir := night(t).write()
	folder := func(file, content string) string {
		d := t.TempDir()
		if err := os.WriteFile(filepath.Join(d, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return d
	}
	for want, args := range map[string][]string{
		"no such file or directory":                            {filepath.Join(dir, "missing")},
		"not a directory":                                      {filepath.Join(dir, "log.100000001")},
		"no log and no snapshot of ZooKeeper in":               {t.TempDir()},
		"not a file of ZooKeeper: it begins with 0x4f636365":   {folder("log.1", "Occed: the log of another system, of which there are many")},
		"not a file of ZooKeeper: it has less than 16 bytes":   {folder("log.1", "ZKLG")},
		"has snapshots and no log, and a history is in the lo": {folder("snapshot.1", "ZKSN")},
		"have no transaction":                                  {folder("log.1", "ZKLG\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00")},
		"no node of a lock was at or below /never between 202": {"--path", "/never", dir},
		"no node of a lock was at or below /lock between 2026": {"--path", "/lock", dir},
		"--at 2026-01-02 04:00:00 is outside of the logs, whi": {"--at", "2026-01-02 04:00", dir},
		"--at 2026-01-02 02:00:00 is outside of the logs, whi": {"--at", "2026-01-02 02:00", dir},
		"--from 2027-01-01 00:00:00 is outside of the logs":    {"--from", "2027-01-01", dir},
		"--to 2025-01-01 00:00:00 is outside of the logs":      {"--to", "2025-01-01", dir},
		"--to is before --from":                                {"--from", "2026-01-02", "--to", "2026-01-01", dir},
		"--at is one time":                                     {"--at", "03:12", "--to", "2026-01-01", dir},
		"\"yesterday\" is no time such as":                     {"--at", "yesterday", dir},
		"--path \"locks\" is no path of ZooKeeper":             {"--path", "locks", dir},
		"--top must not be negative":                           {"--top=-1", dir},
	} {
		a := history(t, args...)
		a.want(t, exitUsage, nil, []string{want})
		if a.out != "" || strings.Count(a.err, "\n") != 1 {
			t.Errorf("%v: printed %q, said %q", args, a.out, a.err)
		}
	}
}

// Damage ends the logs of that server. The others go on.
func TestHistoryGoesAsFarAsTheLogs(t *testing.T) {
	whole, damaged := night(t), night(t)
	log := damaged.log.Bytes()
	cut := len(log) / 2
	damaged.dir = t.TempDir()
	log[cut]++
	bad := damaged.write()
	a := history(t, bad)
	a.want(t, exitUnsure, []string{"/locks/orders"}, []string{bad + " was read up to transaction 0x10000000", "damaged: a transaction's checksum is wrong"})
	all := told(t, whole.write())
	a = history(t, "--json", whole.dir, bad)
	a.want(t, exitUnsure, []string{`"end":"session expired"`}, []string{bad + " was read up to transaction"})
	if n := strings.Count(a.out, "\n"); n != len(all)+1 {
		t.Errorf("%d lines for %d stays", n, len(all))
	}

	// A log that was cut within a transaction ends before it, without a word.
	cutOff := t.TempDir()
	if err := os.WriteFile(filepath.Join(cutOff, "log.100000001"), whole.log.Bytes()[:whole.log.Len()-20], 0o600); err != nil {
		t.Fatal(err)
	}
	history(t, cutOff).want(t, 0, []string{"7 transactions "}, nil)
}

func TestHistorySaysThatTransactionsAreMissing(t *testing.T) {
	s := newServer(t)
	s.create(1, "/m/"+curator(1, "lock-"))
	s.zxid += 10
	s.create(2, "/m/"+curator(2, "lock-"))
	s.zxid = 2 << 32 // the next leader
	s.del(2, "/m/"+curator(2, "lock-"))
	dir := s.write()
	a := history(t, "--json", dir)
	a.want(t, exitUnsure, []string{`"data":"client-1"`, `"end":"unknown"`, `"data":"client-2"`, `"end":"released"`, `"gaps":["0x100000001 to 0x10000000c"]`},
		[]string{"the transactions between 0x100000001 and 0x10000000c are in no log"})
}

// A proposal that no other server has is not carried out, and logs that begin late or end early
// are no contradiction.
func TestHistoryJoinsTheLogsOfServers(t *testing.T) {
	node := func(n int) string { return "/m/" + curator(n, "lock-") }
	one, two, three := newServer(t), newServer(t), newServer(t)
	for i, s := range []*server{one, two, three} {
		s.create(1, node(1))
		if i == 0 {
			s.del(1, node(1)) // the proposal of a leader that was lost
		}
		s.zxid, s.now = 2<<32, nightFall.Add(10e9)
		s.create(2, node(2))
		if i == 1 {
			continue
		}
		s.del(1, node(1))
	}
	want := []string{"/m mutex lock: client-1 waited 0 held 11, released", "/m mutex lock: client-2 waited 1 held 0, still there"}
	if got := told(t, one.write(), two.write(), three.write()); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// snapshot writes a snapshot with ephemeral nodes, which have the zxids 1, 2 and so on.
func (s *server) snapshot(zxid int64, owners map[string]int64, paths ...string) {
	s.T.Helper()
	b := []byte("ZKSN\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00")
	b = append(b, make([]byte, 8)...) // no session, no access control list
	for i, path := range append([]string{""}, paths...) {
		b = append(append(b, text(path)...), text(fmt.Sprintf("client-%d", owners[path]))...)
		b = binary.BigEndian.AppendUint64(b, 0) // the access control list
		for _, n := range []int64{int64(i), int64(i), nightFall.UnixMilli(), nightFall.UnixMilli()} {
			b = binary.BigEndian.AppendUint64(b, uint64(n))
		}
		b = append(b, make([]byte, 12)...)
		b = binary.BigEndian.AppendUint64(b, uint64(owners[path]))
		b = binary.BigEndian.AppendUint64(b, uint64(i))
	}
	b = append(b, text("/")...)
	b = binary.BigEndian.AppendUint64(b, uint64(adler32.Checksum(b)))
	b = append(b, text("/")...)
	if err := os.WriteFile(filepath.Join(s.dir, fmt.Sprintf("snapshot.%x", zxid)), b, 0o600); err != nil {
		s.T.Fatal(err)
	}
}

// The first logs are gone. What was there when the others begin is in a snapshot.
func TestHistoryBeginsWithASnapshot(t *testing.T) {
	node := func(n int) string { return "/m/" + curator(n, "lock-") }
	owners := map[string]int64{node(1): 1, node(2): 2, "/c/" + curator(1, "lock-"): math.MinInt64}
	for name, zxid := range map[string]int64{"older": 5 << 32, "newer": 5<<32 + 3} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.zxid = 5 << 32
			s.del(9, "/m/"+curator(0, "lock-"))
			s.create(3, node(3))
			s.create(4, node(4))
			s.del(1, node(1))
			s.snapshot(zxid, owners, node(1), node(2), node(4), "/q/x")
			dir := s.write()
			a := history(t, dir)
			a.want(t, 0, []string{"/m    mutex   2 "}, nil)
			if missing := strings.Contains(a.err, "no snapshot has the nodes of that time"); missing != (name == "newer") {
				t.Errorf("said %q", a.err)
			}
			if err := os.Truncate(filepath.Join(dir, fmt.Sprintf("snapshot.%x", zxid)), 50); err != nil {
				t.Fatal(err)
			}
			history(t, dir).want(t, 0, nil, []string{"a snapshot was not read", "damaged"})
		})
	}
}
