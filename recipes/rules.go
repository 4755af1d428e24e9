package recipes

import (
	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// GrantRule decides whether a contender may hold the lock. queue holds the contenders of one lock
// in the order of their turns, and queue[self] is the contender that asks. The rule returns the
// index of the contender to wait for, or −1 when queue[self] may hold the lock now.
//
// A rule is a pure function, and must be the same for all contenders of a lock. Its result must be
// less than self, or the acquire fails with [ErrBadRule]: no contender waits for a later one (kazoo
// #649). A contender that waits must wait also with more contenders ahead of it: the queue passed
// to the rule may lack some of them, but not when the rule grants.
//
// With a GrantRule every waiter reads the list of the queue again whenever a contender joins or
// leaves. The package's own rules wake one waiter.
type GrantRule func(queue []Place, self int) (waitFor int)

// Place is one contender's place in a queue.
type Place struct {
	Node     string // name of its node
	Kind     string // the name's part before the sequence: "lock-", "__READ__", "__WRIT__"
	Sequence int32  // orders the queue; wraps to negative numbers: compare by difference
}

// shown returns the rule in the form that a client's queues call. The queue is locked during the
// call.
func (r GrantRule) shown(calls *session.Callbacks) queue.Rule {
	return func(contenders []queue.Place, self int) (waitFor int) {
		places := make([]Place, len(contenders))
		for i, p := range contenders {
			places[i] = Place{Node: p.Node, Kind: p.Kind, Sequence: p.Sequence}
		}
		calls.Run(func() { waitFor = r(places, self) })
		return waitFor
	}
}
