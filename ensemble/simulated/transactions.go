package simulated

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
)

// ledger keeps the transactions of servers, each from the instant at which the first server has
// applied it.
type ledger struct {
	mu    sync.Mutex
	all   []txnlog.Txn
	known map[int64]int  // index in all, by zxid
	sure  map[int64]bool // by zxid: it was committed
}

func newLedger() *ledger { return &ledger{known: map[int64]int{}, sure: map[int64]bool{}} }

// applied notes that a server has applied a transaction. One that is in the log of a server without
// a leader need not be committed: the next leader may drop it.
func (l *ledger) applied(x *tree.Txn, committed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := committed && !l.sure[x.Zxid]
	l.sure[x.Zxid] = l.sure[x.Zxid] || committed
	i, known := l.known[x.Zxid]
	switch {
	case !known:
		l.known[x.Zxid] = len(l.all)
		l.all = append(l.all, txnOf(x))
	case first, !l.sure[x.Zxid]: // from now on it counts, or it is another one of the same number
		l.all[i] = txnOf(x)
	}
}

// txnOf returns a transaction as txnlog reads it from the log of a real server, except that its
// time is now.
func txnOf(x *tree.Txn) txnlog.Txn {
	t := txnlog.Txn{Zxid: x.Zxid, Session: x.Session, Cxid: x.Cxid, Time: time.Now().Round(0), Op: x.Op}
	parts := []tree.Part{{Op: x.Op, Change: x.Change}}
	if m, several := x.Change.(tree.Multi); several {
		parts = m.Parts
	}
	for _, p := range parts {
		switch c := p.Change.(type) {
		case tree.Error:
			t.Changes = nil
			return t // none of the parts takes place
		case tree.Create:
			t.Changes = append(t.Changes, txnlog.Change{Op: wire.Create, Path: c.Path, Data: c.Data, Ephemeral: c.Ephemeral, Container: c.Container})
		case tree.Delete:
			t.Changes = append(t.Changes, txnlog.Change{Op: wire.Delete, Path: c.Path})
		case tree.SetData:
			t.Changes = append(t.Changes, txnlog.Change{Op: wire.SetData, Path: c.Path, Data: c.Data, Version: c.Version})
		case tree.Check:
			t.Changes = append(t.Changes, txnlog.Change{Op: wire.Check, Path: c.Path})
		case tree.CloseSession:
			for _, path := range c.Paths {
				t.Changes = append(t.Changes, txnlog.Change{Op: wire.Delete, Path: path})
			}
		}
	}
	return t
}

// Committed implements txnlog.Source: it returns the transactions of servers in memory, in their
// order. Those that no leader has said to be committed count if they are still in a server's log.
func (e *Ensemble) Committed() []txnlog.Txn {
	if e.ledger == nil {
		return nil
	}
	logged := make(map[int64]bool)
	e.live.Do(func() {
		for _, id := range e.live.Cluster.IDs() {
			disk := e.live.Cluster.Disk(id)
			log, _ := disk.Since(disk.SnapshotZxid())
			for i := range log {
				logged[log[i].Zxid] = true
			}
		}
	})
	e.ledger.mu.Lock()
	defer e.ledger.mu.Unlock()
	var all []txnlog.Txn
	for _, t := range e.ledger.all {
		if logged[t.Zxid] || e.ledger.sure[t.Zxid] {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b txnlog.Txn) int { return cmp.Compare(a.Zxid, b.Zxid) })
	return all
}
