package queue

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// The transaction of a batch deletes its contenders' nodes. So a list may lack them, and a
// watch on one may fire, before the contenders know which permits they have taken. Another
// contender of the session may have such a watch: it has found the node before the reply to
// its create had come.
func TestATurnDoesNotComeBetweenATakeAndTheNewsOfIt(t *testing.T) {
	for name, deleted := range map[string]func(q *localQueue, node string, rest []Place){
		"a list lacks it": func(q *localQueue, _ string, rest []Place) {
			q.started = 2
			q.apply(&flight{number: 2, fresh: time.Now().Add(time.Minute)}, rest)
		},
		"a watch fires": func(q *localQueue, node string, _ []Place) { q.gone(node) },
	} {
		t.Run(name, func(t *testing.T) { turnsAfterATake(t, deleted) })
	}
}

func turnsAfterATake(t *testing.T, deleted func(q *localQueue, node string, rest []Place)) {
	p := &Pool{Path: "/s", Size: 1}
	q := localQueueOf(&session.Session{}, "/s/locks", Locks)
	q.now = time.Now
	join := func(node string) *Contender {
		c := &Contender{q: q, Node: node, rule: Exclusive, woken: make(chan struct{}, 1), permits: &request{pool: p, n: 1}}
		q.join(c)
		return c
	}
	first, second := join("lock-0000000001"), join("lock-0000000002")
	both := Places([]string{first.Node, second.Node}, Locks)
	q.started = 1
	q.apply(&flight{number: 1, fresh: time.Now().Add(time.Minute)}, both)
	ledgerOf(q).known = &permits{size: 1, out: map[string]bool{}}
	take := &batch{q: q, pool: p, members: []*Contender{first}, done: make(chan struct{})}
	requestOf(first).batch = take

	deleted(q, first.Node, both[1:]) // the servers have carried the transaction out
	if v, err := q.judge(second, true); err != nil || v.granted {
		t.Errorf("the second one's turn comes before it is known what the first has taken: %+v, %v", v, err)
	}

	q.mu.Lock()
	take.over = true
	ledgerOf(q).take([]string{"/s/leases/lease-0000000001"}, q.applied)
	q.drop(first.Node)
	q.mu.Unlock()
	if v, err := q.judge(second, true); err != nil || !v.granted {
		t.Errorf("the second one's turn does not come: %+v, %v", v, err)
	}
	if take, short, err := batchOrWait(second); take != nil || short != ofOurs || err != nil {
		t.Errorf("got %v, %v, %v", take, short, err)
	}
}

// The list that is requested along with a contender's node may be answered before the node
// is created, by a server that lags behind. A contender in that list may have been gone
// when the try began.
func TestATryIsNotRefusedForAnOldList(t *testing.T) {
	const theirs, ours = "lock-0000000001", "lock-0000000002"
	for _, custom := range []bool{false, true} {
		for _, there := range []bool{false, true} {
			q := localQueueOf(&session.Session{}, "/m", Locks)
			q.now = time.Now
			c := &Contender{q: q, Node: ours, rule: Exclusive, custom: custom, woken: make(chan struct{}, 1)}
			q.started = 1
			q.apply(&flight{number: 1, fresh: time.Now().Add(time.Minute)}, Places([]string{theirs}, Locks))
			q.join(c)
			if v, err := q.judge(c, false); err != nil || v.list != 2 {
				t.Errorf("custom %v: a try goes by a list from before it: %+v, %v", custom, v, err)
			}
			if v, err := q.judge(c, true); err != nil || v.other != theirs && !v.any {
				t.Errorf("custom %v: a contender that waits may go by it: %+v, %v", custom, v, err)
			}
			list := []string{ours}
			if there {
				list = append(list, theirs)
			}
			q.started = 2
			q.apply(&flight{number: 2, fresh: time.Now().Add(time.Minute)}, Places(list, Locks))
			if v, err := q.judge(c, false); err != nil || v.list != 0 || v.granted == there {
				t.Errorf("custom %v, the other is there %v: %+v, %v", custom, there, v, err)
			}
		}
	}
}

// The create of an acquire that was cancelled still makes its node, ahead of the next try.
func TestWhatWasGivenUpIsNotAheadOfItsOwnSession(t *testing.T) {
	s := new(session.Session)
	q := localQueueOf(s, "/m", Locks)
	q.now = time.Now
	givenUp := &q.lines.givenUp
	given := &Contender{S: s, q: q, guid: session.NewGUID()}
	ghost, theirs, ours := session.ProtectedName(given.guid, Lock)+"0000000001", "lock-0000000002", "lock-0000000003"
	c := &Contender{S: s, q: q, Node: ours, rule: Exclusive, woken: make(chan struct{}, 1)}
	q.join(c)
	list := func(nodes ...string) {
		q.started++
		q.apply(&flight{number: q.started, fresh: time.Now().Add(time.Minute)}, Places(nodes, Locks))
	}
	judge := func(what string, want verdict) {
		t.Helper()
		for _, block := range []bool{false, true} {
			if v, err := q.judge(c, block); err != nil || v != want {
				t.Errorf("%s, block %v: %+v, %v, want %+v", what, block, v, err, want)
			}
		}
	}
	list(ghost, ours)
	judge("its create is under way", verdict{other: ghost})
	givenUp.add(given.guid)
	judge("it is given up", verdict{granted: true})
	list(ghost, theirs, ours)
	judge("another session's is between", verdict{other: theirs})
	list(ghost, ours)
	given.settled()
	for _, block := range []bool{false, true} {
		if v, err := q.judge(c, block); err != nil || v.list != q.started+1 || v.own != "" || v.other != "" {
			t.Errorf("it is gone, and the list may be old, block %v: %+v, %v", block, v, err)
		}
	}
	list(ours)
	judge("it is gone", verdict{granted: true})
	if n := len(givenUp.guids); n != 0 {
		t.Errorf("%d are remembered", n)
	}

	// The node may be gone before the contender is known to be given up.
	given.settled()
	givenUp.add(given.guid)
	if n := len(givenUp.guids); n != 0 {
		t.Errorf("%d are remembered that were gone at once", n)
	}
}

// A writer's node is gone, and a reader may have been put in its place whose create was
// never answered. No contender behind goes by a list that lacks the reader, neither when
// another session's writer is gone, nor when a writer of this session that was being
// downgraded is. A writer that was released leaves nothing behind.
func TestNobodyIsGrantedALockOverADowngradeThatNoListHas(t *testing.T) {
	const writer, reader, ours = "_c_6ba7b810-9dad-11d1-80b4-00c04fd430c8-__WRIT__0000000001", "_c_6ba7b811-9dad-11d1-80b4-00c04fd430c8-__READ__0000000001", "_c_6ba7b812-9dad-11d1-80b4-00c04fd430c8-__WRIT__0000000002"
	for name, c := range map[string]struct {
		own, downgraded bool
		looks           bool
	}{
		"another session's":    {false, false, true},
		"ours, downgraded":     {true, true, true},
		"ours, being released": {true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := new(session.Session)
			q := localQueueOf(s, "/rw", ReadWrites)
			q.now = time.Now
			list := func(nodes ...string) {
				q.started++
				q.apply(&flight{number: q.started, fresh: time.Now().Add(time.Minute)}, Places(nodes, ReadWrites))
			}
			next := &Contender{S: s, q: q, Node: ours, rule: Exclusive, woken: make(chan struct{}, 1)}
			q.join(next)
			if c.own {
				holder := &Contender{S: s, q: q, Node: writer, rule: Exclusive, woken: make(chan struct{}, 1), downgraded: c.downgraded}
				q.join(holder)
				list(writer, ours)
				q.leaving(holder)
			} else {
				list(writer, ours)
			}
			q.gone(writer)
			v, err := q.judge(next, true)
			if err != nil || v.granted == c.looks || (v.list == q.started+1) != c.looks {
				t.Fatalf("the one behind: %+v, %v; a list is needed: %v", v, err, c.looks)
			}
			if !c.looks {
				return
			}
			list(reader, ours)
			if v, err := q.judge(next, true); err != nil || v.granted || v.other != reader {
				t.Errorf("with the reader in the list: %+v, %v", v, err)
			}
		})
	}
}

// Two contenders wait for the node of a third one of their session, and one of them gives
// up. The other is still woken when the node goes, and no other contender is.
func TestOneWhoStopsWaitingLeavesTheOthersRegistered(t *testing.T) {
	q := localQueueOf(&session.Session{}, "/s/locks", Locks)
	q.now = time.Now
	var all []*Contender
	for _, node := range []string{"lock-0000000001", "lock-0000000002", "lock-0000000003"} {
		c := &Contender{q: q, Node: node, rule: Shared, woken: make(chan struct{}, 1)}
		q.join(c)
		all = append(all, c)
	}
	q.mu.Lock()
	q.waiting[all[0].Node] = []*Contender{all[1], all[2]}
	q.mu.Unlock()
	q.stop(all[1], all[0].Node)
	q.mu.Lock()
	q.wake(all[0].Node)
	q.mu.Unlock()
	if len(all[1].woken) != 0 || len(all[2].woken) != 1 {
		t.Errorf("woken: %d who has stopped, %d who waits", len(all[1].woken), len(all[2].woken))
	}
	if len(q.waiting) > 0 {
		t.Errorf("left: %v", q.waiting)
	}
}
