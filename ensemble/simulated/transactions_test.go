package simulated

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// A transaction has the time of its commit, and one that the next leader has dropped is not among
// them.
func TestServersInMemoryKnowTheirTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := InMemory(ensemble.LocalConfig{}, Memory{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		const session = 7
		create := func(zxid int64, path string) *tree.Txn {
			return &tree.Txn{Session: session, Cxid: int32(zxid), Zxid: zxid, Op: wire.Create, Change: tree.Create{Path: path, Ephemeral: true}}
		}
		l, began := e.ledger, time.Now()
		l.applied(create(1<<20, "/dropped"), false)
		l.applied(create(1<<20+2, "/later"), false)
		time.Sleep(time.Second)
		l.applied(&tree.Txn{Session: session, Zxid: 1<<20 + 3, Op: wire.Multi, Change: tree.Multi{Parts: []tree.Part{{Op: wire.Delete, Change: tree.Delete{Path: "/later"}}, {Op: wire.ErrorOp, Change: tree.Error{Code: wire.NoNode}}}}}, true)
		l.applied(create(1<<20+2, "/later"), true)
		time.Sleep(time.Second)
		l.applied(create(1<<20+2, "/later"), true)
		all := e.Committed()
		for len(all) > 0 && all[0].Zxid < 1<<20 {
			all = all[1:] // the servers' own
		}
		if len(all) != 2 || len(all[0].Changes) != 1 || all[0].Changes[0].Path != "/later" || !all[0].Changes[0].Ephemeral || len(all[1].Changes) != 0 {
			t.Fatalf("%+v", all)
		}
		if at := all[0].Time.Sub(began); at != time.Second {
			t.Errorf("after %v", at)
		}
	})
}

// A new leader commits what it has logged, also what the leader before it has not said to be committed.
func TestANewLeaderCommitsWhatItHasLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := InMemory(ensemble.LocalConfig{}, Memory{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		x := tree.Txn{Session: 7, Cxid: 1, Zxid: 1<<32 + 9, Op: wire.Create, Change: tree.Create{Path: "/logged"}}
		for _, s := range e.Servers() {
			if err := e.Kill(t.Context(), s.ID); err != nil {
				t.Fatal(err)
			}
		}
		e.live.Do(func() {
			for _, id := range e.live.Cluster.IDs() {
				disk := e.live.Cluster.Disk(id)
				disk.Append(x)
				disk.Sync(x.Zxid)
				if err := e.live.Cluster.SetDisk(id, disk); err != nil {
					t.Error(err)
				}
			}
		})
		var all sync.WaitGroup
		for _, s := range e.Servers() {
			all.Go(func() {
				if err := e.Restart(t.Context(), s.ID); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		e.ledger.mu.Lock()
		defer e.ledger.mu.Unlock()
		if !e.ledger.sure[x.Zxid] {
			t.Error("it does not count")
		}
	})
}
