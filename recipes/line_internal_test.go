package recipes

import "testing"

// TestATurnDoesNotComeBetweenATakeAndTheNewsOfIt : the transaction of a take
// deletes its contenders' nodes, so that a list may lack them before it is known
// what they have taken.
func TestATurnDoesNotComeBetweenATakeAndTheNewsOfIt(t *testing.T) {
	s := &Semaphore{path: "/s", size: 1}
	q := &line{
		dir: "/s/locks", kinds: lockKinds,
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
	if v, err := q.judge(second); err != nil || v.granted {
		t.Errorf("the second one's turn comes before it is known what the first has taken: %+v, %v", v, err)
	}

	q.mu.Lock()
	take.over = true
	q.tookPermits([]string{"/s/leases/lease-0000000001"})
	q.drop(first.node)
	q.mu.Unlock()
	if v, err := q.judge(second); err != nil || !v.granted {
		t.Errorf("the second one's turn does not come: %+v, %v", v, err)
	}
	if take, short, err := q.takeOrWait(second); take != nil || short != ofOurs || err != nil {
		t.Errorf("got %v, %v, %v", take, short, err)
	}
}
