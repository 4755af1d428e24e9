package situations

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

func ofFaultsExamples() map[string]example {
	writes := mode(histories.ModeWrite)
	writer := on(1, ok, acquire, rw, writes)
	deleted := strike(2, "delete-node", params("lock", string(rw)))
	return map[string]example{
		"two-faults-in-a-heartbeat": {
			[]any{strike(1, "down"), strike(300, "expire-session", hits(3))}, // of the same client
			[]any{strike(1, "down"), strike(300, "reset", hits(2)), strike(400, "down"), strike(401, "at-message", params("step", "hold"))},
		},
		"session-ends-while-enqueuing": {
			[]any{on(1, invoke, acquire, mutex), strike(2, "expire-session")},
			[]any{on(1, invoke, acquire, mutex), on(2, histories.Enqueued, acquire, mutex), strike(3, "expire-session")},
		},
		"session-ends-during-release": {
			[]any{on(1, invoke, release, mutex), strike(2, "expire-session")},
			[]any{on(1, invoke, release, mutex), on(2, ok, release, mutex), strike(3, "expire-session")},
		},
		"asker-loses-session": {
			[]any{on(1, ok, acquire, rev), on(2, invoke, histories.Revoke, rev), expired(3, "s1")},
			[]any{on(1, ok, acquire, rev), on(2, invoke, histories.Revoke, rev), on(3, ok, histories.Revoke, rev), expired(4, "s1")},
		},
		"two-sessions-end-at-once": {
			[]any{expired(1, "s1"), expired(2, "s2")},
			[]any{expired(1, "s1"), expired(3, "s2"), expired(3, "s2")},
		},
		"second-lock-deleted": {
			[]any{on(1, invoke, acquire, "", joint("multilock", "second")), on(2, ok, acquire, "", joint("multilock", "second")), strike(3, "delete-node", params("lock", "second"))},
			[]any{on(1, invoke, acquire, "", joint("multilock", "second")), on(2, ok, acquire, "", joint("multilock", "second")), strike(3, "delete-node", params("lock", "multilock"))},
		},
		"some-permits-deleted": {
			[]any{on(1, invoke, acquire, sema, permits(2)), on(2, ok, acquire, sema, permits(2)), strike(3, "delete-node", params("lock", string(sema)))},
			[]any{on(1, invoke, acquire, sema, permits(1)), on(2, ok, acquire, sema, permits(1)), strike(3, "delete-node", params("lock", string(sema)))},
		},
		"deleted-before-downgrade": {
			[]any{on(0, invoke, acquire, rw, writes), writer, deleted, on(3, invoke, acquire, rw, mode(histories.ModeRead))},
			[]any{on(0, invoke, acquire, rw, writes), writer, deleted, on(2.5, histories.Lost, "", rw, writes), on(3, invoke, acquire, rw, mode(histories.ModeRead))},
		},
	}
}

func ofHoldsExamples() map[string]example {
	pause, cut := strike(3, "pause-worker"), strike(3, "down")
	holds := func(r histories.Recipe, change ...func(*histories.Event)) []any {
		return []any{on(1, invoke, acquire, r, change...), on(2, ok, acquire, r, change...)}
	}
	then := func(before []any, more ...any) []any { return slices.Concat(before, more) }
	second := []any{on(3, invoke, acquire, mutex, by(2)), on(5, ok, acquire, mutex, by(2))}
	handed := func(sub int32) []any {
		return []any{cut, on(4, invoke, acquire, histories.Handoff), on(5, ok, acquire, histories.Handoff, token(7, sub))}
	}
	return map[string]example{
		"stands-still-at-its-grant": {
			[]any{pause, on(4, invoke, acquire, mutex), on(5, ok, acquire, mutex), on(6, histories.Says, "", mutex), on(400, invoke, release, mutex)},
			[]any{on(4, invoke, acquire, mutex), on(5, ok, acquire, mutex), on(400, invoke, release, mutex)},
		},
		"granted-past-a-paused-holder": {then(holds(mutex), then([]any{pause}, second...)...), then(holds(mutex), second...)},
		"handed-on-in-a-cut":           {handed(1), handed(0)},
		"reentered-while-suspended": {
			then(holds(mutex), on(3, histories.Suspended, "", mutex), on(4, invoke, acquire, mutex)),
			then(holds(mutex), on(3, histories.Suspended, "", mutex), on(4, histories.Resumed, "", mutex), on(5, invoke, acquire, mutex)),
		},
		"released-while-suspended": {
			then(holds(mutex), on(3, histories.Suspended, "", mutex), on(4, invoke, release, mutex)),
			then(holds(mutex), on(3, histories.Suspended, "", mutex), on(4, histories.Lost, "", mutex), on(5, invoke, release, mutex)),
		},
		"cancelled-at-its-turn": {
			[]any{on(2, invoke, release, mutex, by(2)), on(3, ok, release, mutex, by(2)), on(4, fail, acquire, mutex)},
			[]any{on(2, invoke, release, mutex, by(2)), on(3, ok, release, mutex, by(2)), on(4.1, fail, acquire, mutex)},
		},
		"fence-refuses":         {[]any{on(1, fail, histories.Write, mutex, store(histories.StoreFenced))}, []any{on(1, ok, histories.Write, mutex, store(histories.StoreFenced))}},
		"guarded-write-refused": {[]any{on(1, fail, histories.Write, mutex, store(histories.StoreGuarded))}, []any{on(1, fail, histories.Write, mutex, store(histories.StoreFenced))}},
		"size-below-use": {
			then(holds(shared, permits(2)), on(3, ok, histories.SetSize, shared, by(2), size(1))),
			then(holds(shared, permits(2)), on(3, ok, histories.SetSize, shared, by(2), size(2))),
		},
		"asked-too-late": {
			then(holds(rev, token(5, 0)), on(3, invoke, release, rev, token(5, 0)), on(4, ok, histories.Revoke, rev, by(2), token(5, 0))),
			then(holds(rev, token(5, 0)), on(3, ok, histories.Revoke, rev, by(2), token(5, 0)), on(4, ok, histories.Revoke, rev, by(2), token(6, 0))),
		},
		"asked-behind-a-cut": {
			then(holds(rev, token(5, 0)), cut, on(4, ok, histories.Revoke, rev, by(2), token(5, 0))),
			then(holds(rev, token(5, 0)), cut, heals(4, cut), on(5, ok, histories.Revoke, rev, by(2), token(5, 0))),
		},
	}
}

func ofBarriersExamples() map[string]example {
	barrier, cut := histories.Barrier, strike(2, "black-hole")
	waits := on(1, invoke, histories.Wait, barrier)
	removed := on(3, ok, histories.Remove, barrier, by(2))
	old := changes(1, Create, node(double, "old"))
	first, again := asks(0, Connect, ""), asks(2, Connect, "", func(c *Call) { c.Session = "s2" })
	enters := changes(3, Create, node(double, "new"), func(c *Change) { c.Session = "s2" })
	return map[string]example{
		"removed-behind-a-cut": {[]any{waits, cut, removed}, []any{waits, removed}},
		"set-again-too-soon": {
			[]any{waits, removed, on(4, ok, histories.Set, barrier, by(2))},
			[]any{removed, on(3.5, invoke, histories.Wait, barrier), on(4, ok, histories.Set, barrier, by(2))},
		},
		"leaves-while-another-enters": {
			[]any{on(1, invoke, histories.Enter, double), on(2, invoke, histories.Leave, double, by(2))},
			[]any{on(1, invoke, histories.Enter, double), on(2, ok, histories.Enter, double), on(3, invoke, histories.Leave, double, by(2))},
		},
		"enters-beside-its-old-node": {[]any{first, old, again, enters}, []any{first, old, again, changes(2, Delete, node(double, "old")), enters}},
	}
}

func ofRepliesExamples() map[string]example {
	created := node(mutex, "a")
	places := on(4, histories.Enqueued, acquire, mutex, token(2, 0))
	return map[string]example{
		"create-reply-lost":        {[]any{asks(2, Create, created, unheard)}, []any{asks(2, Create, created, unheard, returned), asks(3, Create, "/z/run/presence/a", unheard)}},
		"lost-create-found":        {[]any{asks(2, Create, created, unheard), places, on(5, ok, acquire, mutex, token(2, 0))}, []any{asks(2, Create, created), places}},
		"joint-create-reply-lost":  {[]any{asks(2, Multi, created, unheard, parts(2, 0, 0))}, []any{asks(2, Multi, created, unheard, parts(1, 0, 0))}},
		"delete-reply-lost":        {[]any{asks(2, Delete, created, unheard)}, []any{asks(2, Delete, created, unsent)}},
		"delete-lost":              {[]any{asks(2, Delete, created, unsent)}, []any{asks(2, Delete, created, unheard), asks(3, Delete, created, unsent, arrived)}},
		"guarded-write-reply-lost": {[]any{asks(2, Multi, "", unheard, returned, parts(0, 1, 1))}, []any{asks(2, Multi, "", unheard, parts(0, 1, 0)), asks(3, Multi, "", unsent, parts(0, 1, 1))}},
		"size-reply-lost": {
			[]any{asks(2, Set, "/z/run/locks/sharedsemaphore-size", unheard)},
			[]any{asks(2, Set, "/z/run/locks/sharedsemaphore-size"), asks(3, Set, created, unheard)},
		},
		"sync-reply-lost":   {[]any{asks(2, Sync, "/", unheard)}, []any{asks(2, Sync, "/", unsent)}},
		"notification-lost": {[]any{asks(2, Notify, created, unheard)}, []any{asks(2, Notify, created)}},
	}
}

func ofRacesExamples() map[string]example {
	a, dir, sizes := node(mutex, "a"), "/z/run/locks/mutex", "/z/run/locks/sharedsemaphore-size"
	list, gone := asks(2, List, dir), changes(3, Delete, a)
	leases := asks(2, List, node(shared, "leases"))
	connected := asks(1, Connect, "")
	isolated := strike(2, "isolate-server", targets("server 1"))
	granted := on(5, ok, acquire, mutex)
	old := changes(2, Create, node(mutex, "old"))
	other := func(c *Call) { c.Session = "s2" }
	stranger := func(c *Call) { c.Session, c.Client = "s2", "c2" }
	queues := changes(4, Create, node(mutex, "new"), func(c *Change) { c.Session = "s2" })
	return map[string]example{
		"gone-before-the-watch": {[]any{list, gone, asks(4, Read, a, watching, noNode)}, []any{gone, asks(3.5, List, dir), asks(4, Read, a, watching, noNode)}},
		"resized-between-reads": {
			[]any{leases, changes(3, Set, sizes), asks(4, Read, sizes)},
			[]any{changes(1, Set, sizes), leases, asks(4, Read, sizes), changes(5, Set, sizes), asks(6, Read, sizes)},
		},
		"joint-write-with-one-gone": {[]any{asks(2, Multi, "", parts(0, 2, 1), noNode)}, []any{asks(2, Multi, "", parts(0, 1, 1), noNode)}},
		"release-finds-nothing":     {[]any{asks(2, Delete, a, noNode)}, []any{asks(2, Delete, a), asks(3, Delete, node(double, "ready"), noNode)}},
		"behind-its-own-old-node": {
			[]any{connected, old, asks(3, Connect, "", other), queues},
			[]any{connected, old, asks(3, Connect, "", stranger), queues},
		},
		"granted-on-a-cut-off-server": {[]any{connected, isolated, granted}, []any{connected, isolated, heals(3, isolated), strike(3, "isolate-server", targets("server 2")), granted}},
		"granted-in-an-ended-session": {[]any{changes(4, "", ""), granted}, []any{granted, changes(6, "", "")}},
		"comes-back-to-a-stale-server": {
			[]any{changes(10, Create, a), asks(40, Connect, "", func(c *Call) { c.Zxid = 9 })},
			[]any{changes(30, Create, a), asks(40, Connect, "", func(c *Call) { c.Zxid = 29 })},
		},
		"comes-back-too-late": {[]any{asks(2, Connect, "", func(c *Call) { c.Failed = "expired" })}, []any{connected}},
	}
}
