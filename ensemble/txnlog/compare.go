package txnlog

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
)

// Difference is the first transaction in which the logs of servers contradict each other.
// From there on the servers' answers to their clients cannot all be right, even if the
// servers agree again later.
type Difference struct {
	Zxid   int64
	Server int    // the server that contradicts the most others there
	What   string // the contradiction
}

// String returns the difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("the log of server %d is wrong from zxid 0x%x on: %s", d.Server, d.Zxid, d.What)
}

// Compare reads the logs of servers, by their numbers, and returns the first transaction in
// which they contradict each other, or nil. There are three kinds of contradiction:
//
//   - two servers have different transactions with one zxid;
//   - they have the same transaction, and different trees after it (see [Txn.Digest]);
//   - one has a transaction that the other has not, and both go on with the same one.
//
// A log that ends early contradicts no other one: its server lags behind, or was killed. Nor
// does a log that begins late, or the log of a server that has written a snapshot at that
// point, since it may have been sent the leader's tree. Transactions that only one server has,
// at the end of its log, may be proposals that no leader has committed. A server may have
// transactions twice (ZOOKEEPER-4394). That does harm when it carries them out twice, after a
// restart; then it finds that its tree is wrong, and prints a line about it.
//
// Its errors are those of [ReadLog].
func Compare(servers map[int]Dir) (*Difference, error) {
	var logs []log
	seed := maphash.MakeSeed()
	for id, dir := range servers {
		l, err := load(id, dir, seed)
		if err != nil {
			return nil, fmt.Errorf("server %d: %w", id, err)
		}
		logs = append(logs, l)
	}
	slices.SortFunc(logs, func(a, b log) int { return a.server - b.server })
	var all []contradiction
	for i, a := range logs {
		for _, b := range logs[i+1:] {
			if c := contradict(a, b); c != nil {
				all = append(all, *c)
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	first := slices.MinFunc(all, func(a, b contradiction) int { return cmp.Compare(a.zxid, b.zxid) })
	d := &Difference{Zxid: first.zxid, What: first.what}
	times := make(map[int]int) // a server's number to its contradictions there
	for _, c := range all {
		for _, server := range c.between {
			if c.zxid == d.Zxid {
				times[server]++
			}
		}
	}
	for _, l := range logs {
		if times[l.server] > times[d.Server] {
			d.Server = l.server
		}
	}
	return d, nil
}

// contradiction is a contradiction between two servers.
type contradiction struct {
	zxid    int64
	between [2]int
	what    string
}

// log holds the transactions of a server.
type log struct {
	server    int
	entries   []entry // in the order of their zxids
	snapshots []int64
}

// entry is the part of a transaction that Compare keeps.
type entry struct {
	zxid            int64
	content, digest uint64 // content is a hash
}

func load(server int, dir Dir, seed maphash.Seed) (log, error) {
	l := log{server: server}
	for _, path := range dir.Snapshots {
		zxid, _ := zxidOf(path)
		l.snapshots = append(l.snapshots, zxid)
	}
	last := int64(-1)
	for _, path := range dir.Logs {
		for t, err := range logEntries(path) {
			if err != nil {
				return log{}, err
			}
			if t.Zxid > last {
				l.entries = append(l.entries, entry{t.Zxid, maphash.Bytes(seed, t.content), t.Digest})
				last = t.Zxid
			}
		}
	}
	return l, nil
}

// contradict returns the first contradiction of two servers, or nil.
func contradict(a, b log) *contradiction {
	says := func(zxid int64, format string, args ...any) *contradiction {
		return &contradiction{zxid, [2]int{a.server, b.server}, fmt.Sprintf("servers %d and %d: ", a.server, b.server) + fmt.Sprintf(format, args...)}
	}
	began := false      // both logs have had an entry
	missing := int64(0) // the first zxid since then that only one of them has
	var has log
	for i, j := 0, 0; i < len(a.entries) && j < len(b.entries); {
		x, y := a.entries[i], b.entries[j]
		if x.zxid != y.zxid {
			one, from := a, x
			if x.zxid > y.zxid {
				one, from = b, y
				j++
			} else {
				i++
			}
			if began && missing == 0 {
				missing, has = from.zxid, one
			}
			continue
		}
		switch {
		case missing != 0 && !a.snapshotIn(missing, x.zxid) && !b.snapshotIn(missing, x.zxid):
			return says(missing, "server %d alone has it, and both have 0x%x", has.server, x.zxid)
		case x.content != y.content:
			return says(x.zxid, "they have different transactions there")
		case x.digest != 0 && y.digest != 0 && x.digest != y.digest:
			return says(x.zxid, "they have different trees after the same transaction")
		}
		began, missing = true, 0
		i++
		j++
	}
	return nil
}

// snapshotIn reports whether the server has a snapshot with a zxid of at least from and
// less than before.
func (l log) snapshotIn(from, before int64) bool {
	return slices.ContainsFunc(l.snapshots, func(zxid int64) bool { return zxid >= from && zxid < before })
}
