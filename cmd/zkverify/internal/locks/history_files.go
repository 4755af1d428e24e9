package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// files are the logs and snapshots of servers.
type files struct {
	names   []string // the folders
	dirs    []txnlog.Dir
	history *inspect.History

	join         *txnlog.Join
	first, last  inspect.Instant
	transactions int
	gaps         []gap
	unread       []error // snapshots that could not be read
	baseless     bool    // the tree at the beginning of the logs is not known
}

// gap is a part of the transactions that no log has.
type gap struct{ after, before int64 }

func openFiles(names []string) (*files, error) {
	f := new(files)
	logs := 0
	for _, name := range names {
		if slices.Contains(f.names, name) {
			continue
		}
		dir, err := txnlog.Open(name)
		if err != nil {
			return nil, refuse("%w", err)
		}
		logs += len(dir.Logs)
		f.names, f.dirs = append(f.names, name), append(f.dirs, dir)
	}
	if logs == 0 {
		return nil, refuse("%s has snapshots and no log, and a history is in the logs: is there a dataLogDir? (%w)", strings.Join(f.names, ", "), fs.ErrNotExist)
	}
	return f, nil
}

// read passes all transactions to the history.
func (f *files) read(ctx context.Context) error {
	f.join = txnlog.NewJoin(f.dirs)
	for t := range f.join.Transactions() {
		at := inspect.Instant{Zxid: t.Zxid, Time: t.Time}
		if f.transactions++; f.transactions == 1 {
			f.first = at
			if err := f.base(t.Zxid); err != nil {
				return err
			}
		} else if !follows(f.last.Zxid, t.Zxid) {
			f.gaps = append(f.gaps, gap{f.last.Zxid, t.Zxid})
			f.history.Interrupt(f.last)
		}
		f.last = at
		f.pass(&t, at)
		const often = 1 << 14
		if f.transactions%often == 0 && ctx.Err() != nil {
			return interrupted(ctx)
		}
	}
	if f.transactions == 0 {
		for _, r := range f.join.Reaches() {
			if r.Err != nil {
				return refuse("%w", r.Err)
			}
		}
		return refuse("the logs in %s have no transaction", strings.Join(f.names, ", "))
	}
	f.history.End(inspect.EndNone, f.last)
	return nil
}

// follows reports whether no transaction can be between two: the number of a transaction has the
// leader's epoch above and a counter below, which each leader begins at 1.
func follows(a, b int64) bool { return b == a+1 || b>>32 > a>>32 && b&math.MaxUint32 == 1 }

// pass passes a transaction to the history.
func (f *files) pass(t *txnlog.Txn, at inspect.Instant) {
	if t.Op == wire.CloseSession {
		f.history.CloseSession(t.Session, t.Cxid == 0, at) // the servers number their own requests 0
		return
	}
	for i := range t.Changes {
		switch c := &t.Changes[i]; c.Op {
		case wire.Create:
			session := t.Session
			if !c.Ephemeral {
				session = 0
			}
			f.history.Create(c.Path, c.Data, session, at)
		case wire.Delete:
			f.history.Delete(c.Path, t.Session, at)
		}
	}
}

// base passes the nodes to the history that were there before the first transaction. A snapshot
// that is newer than that knows those which still exist.
func (f *files) base(first int64) error {
	if first&math.MaxUint32 == 1 && first>>32 <= 1 {
		return nil // the first transaction of all
	}
	var older, newer []snapshot
	for _, dir := range f.dirs {
		for _, path := range dir.Snapshots {
			switch s := (snapshot{path, txnlog.ZxidOf(path)}); {
			case s.zxid >= first:
				newer = append(newer, s)
			case s.zxid>>32 < first>>32 || follows(s.zxid, first):
				older = append(older, s)
			}
		}
	}
	slices.SortFunc(older, func(a, b snapshot) int { return cmp.Compare(b.zxid, a.zxid) })
	slices.SortFunc(newer, func(a, b snapshot) int { return cmp.Compare(a.zxid, b.zxid) })
	for _, s := range append(older, newer...) {
		nodes, err := s.contenders(first)
		if err != nil {
			if !errors.Is(err, txnlog.ErrDamaged) && !errors.Is(err, txnlog.ErrNotALog) {
				return refuse("%w", err)
			}
			f.unread = append(f.unread, err)
			continue
		}
		for _, n := range nodes {
			f.history.Create(n.Path, n.Data, n.Owner, inspect.Instant{Zxid: n.Czxid, Time: n.Created})
		}
		f.baseless = s.zxid >= first
		return nil
	}
	f.baseless = true
	return nil
}

type snapshot struct {
	path string
	zxid int64
}

// contenders returns the nodes that may be a lock's and were created before a transaction, in the
// order of their creation.
func (s snapshot) contenders(before int64) (nodes []txnlog.Node, err error) {
	err = txnlog.ScanSnapshot(s.path, func(int64, time.Duration) {}, func(n *txnlog.Node) {
		numbered := n.Path[len(n.Path)-1] >= '0' && n.Path[len(n.Path)-1] <= '9'
		if !n.Ephemeral() {
			n.Owner = 0
		}
		if n.Czxid < before && (n.Owner != 0 || numbered) {
			nodes = append(nodes, *n)
		}
	})
	slices.SortFunc(nodes, func(a, b txnlog.Node) int { return cmp.Compare(a.Czxid, b.Czxid) })
	return nodes, err
}

// tell prints what was not read, and returns an error if anything was not.
func (f *files) tell(con *Console) error {
	var failed error
	for i, r := range f.join.Reaches() {
		if r.Err == nil {
			continue
		}
		failed = &Exit{Status: exitUnsure}
		if r.Last == 0 {
			con.say("%s was not read: %v", f.names[i], r.Err)
			continue
		}
		con.say("%s was read up to transaction 0x%x of %s: %v", f.names[i], r.Last, timeText(r.At), r.Err)
	}
	for _, err := range f.unread {
		con.say("a snapshot was not read: %v", err)
	}
	for _, g := range f.gaps {
		failed = &Exit{Status: exitUnsure}
		con.say("the transactions between 0x%x and 0x%x are in no log: the ends of the stays that were under way are unknown", g.after, g.before)
	}
	if f.baseless {
		con.say("The logs begin at 0x%x of %s, and no snapshot has the nodes of that time: holds that had begun before are missing%s.",
			f.first.Zxid, timeText(f.first.Time), missing(f.history.Unknown))
	}
	return failed
}

func missing(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d were deleted)", n)
}
