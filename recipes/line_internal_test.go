package recipes

import "testing"

// TestATurnDoesNotComeBetweenATakeAndTheNewsOfIt : the transaction of a take
// deletes its contenders' nodes, so that a list may lack them before it is known
// what they have taken.
func TestATurnDoesNotComeBetweenATakeAndTheNewsOfIt(t *testing.T) {
	s := &Semaphore{path: "/s", size: 1}
	q := &line{
		s: &session{}, dir: "/s/locks", kinds: lockKinds,
		own: make(map[string]*contender), waiting: make(map[string][]*contender), going: make(map[string]bool),
	}
	join := func(node string) *contender {
		c := &contender{q: q, node: node, rule: exclusive, woken: make(chan struct{}, 1), asks: &asks{sem: s, n: 1}}
		q.join(c)
		return c
	}
	first, second := join("lock-0000000001"), join("lock-0000000002")
	both := queue([]string{first.node, second.node}, lockKinds)
	q.started = 1
	q.apply(1, both)
	q.ledger.known = &permits{size: 1, out: map[string]bool{}}
	take := &take{q: q, sem: s, members: []*contender{first}, done: make(chan struct{})}
	first.asks.take = take

	q.started = 2
	q.apply(2, both[1:]) // the servers have carried it out
	if v, err := q.judge(second, true); err != nil || v.granted {
		t.Errorf("the second one's turn comes before it is known what the first has taken: %+v, %v", v, err)
	}

	q.mu.Lock()
	take.over = true
	q.tookPermits([]string{"/s/leases/lease-0000000001"})
	q.drop(first.node)
	q.mu.Unlock()
	if v, err := q.judge(second, true); err != nil || !v.granted {
		t.Errorf("the second one's turn does not come: %+v, %v", v, err)
	}
	if take, short, err := q.takeOrWait(second); take != nil || short != ofOurs || err != nil {
		t.Errorf("got %v, %v, %v", take, short, err)
	}
}

// TestATryIsNotRefusedForAnOldList : the list that is asked for along with a
// contender's node may be answered before the node is made, by a server that lags
// behind. Whoever stands in it may have been gone when the try began.
func TestATryIsNotRefusedForAnOldList(t *testing.T) {
	const theirs, ours = "lock-0000000001", "lock-0000000002"
	for _, custom := range []bool{false, true} {
		for _, there := range []bool{false, true} {
			q := &line{
				s: &session{}, dir: "/m", kinds: lockKinds,
				own: make(map[string]*contender), waiting: make(map[string][]*contender), going: make(map[string]bool),
			}
			c := &contender{q: q, node: ours, rule: exclusive, custom: custom, woken: make(chan struct{}, 1)}
			q.started = 1
			q.apply(1, queue([]string{theirs}, lockKinds))
			q.join(c)
			if v, err := q.judge(c, false); err != nil || v.list != 2 {
				t.Errorf("custom %v: a try goes by a list from before it: %+v, %v", custom, v, err)
			}
			if v, err := q.judge(c, true); err != nil || v.other != theirs && !v.any {
				t.Errorf("custom %v: whoever waits may go by it: %+v, %v", custom, v, err)
			}
			list := []string{ours}
			if there {
				list = append(list, theirs)
			}
			q.started = 2
			q.apply(2, queue(list, lockKinds))
			if v, err := q.judge(c, false); err != nil || v.list != 0 || v.granted == there {
				t.Errorf("custom %v, the other is there %v: %+v, %v", custom, there, v, err)
			}
		}
	}
}

// TestWhatWasGivenUpIsNotAheadOfItsOwnSession : the create of an acquire that was
// cancelled makes its node all the same, ahead of the next try.
func TestWhatWasGivenUpIsNotAheadOfItsOwnSession(t *testing.T) {
	s := &session{lines: make(map[lineKey]*line)}
	q := s.line("/m", lockKinds)
	given := &contender{s: s, q: q, guid: newGUID()}
	ghost, theirs, ours := protectedName(given.guid, lockKind)+"0000000001", "lock-0000000002", "lock-0000000003"
	c := &contender{s: s, q: q, node: ours, rule: exclusive, woken: make(chan struct{}, 1)}
	q.join(c)
	list := func(nodes ...string) {
		q.started++
		q.apply(q.started, queue(nodes, lockKinds))
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
	s.givenUp.add(given.guid)
	judge("it is given up", verdict{granted: true})
	list(ghost, theirs, ours)
	judge("another session's is between", verdict{other: theirs})
	list(ghost, ours)
	given.settled()
	judge("it is gone, and the list may be old", verdict{list: q.started + 1})
	list(ours)
	judge("it is gone", verdict{granted: true})
	if n := len(s.givenUp.guids); n != 0 {
		t.Errorf("%d are remembered", n)
	}

	// It may be gone before anybody has said that it is given up.
	given.settled()
	s.givenUp.add(given.guid)
	if n := len(s.givenUp.guids); n != 0 {
		t.Errorf("%d are remembered that were gone at once", n)
	}
}
