package recipes

import (
	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// GrantRule decides whose turn it is. queue holds the contenders of one lock in
// the order of their turns, and queue[self] asks. The rule returns the index of
// the contender to wait for, or −1 when queue[self] may hold the lock now.
//
// A rule is a pure function, and must be the same for all contenders of a lock.
// Whatever it returns must be less than self: new contenders join at the end of
// the queue, and no contender waits for a later one (kazoo #649). A contender that
// waits must wait also with more contenders ahead of it: the queue that a rule
// is shown may lack some of them, but never when it grants. A rule that returns
// something else makes the acquire fail with [ErrBadRule].
//
// With a rule of the user's every waiter looks again whenever anybody joins or
// leaves, which costs a list each: rules that admit several at a time cannot say
// whose leaving will be enough. The package's own can, and wake one waiter.
type GrantRule func(queue []Place, self int) (waitFor int)

// Place is one contender's place in a queue.
type Place struct {
	Node     string // name of its node
	Kind     string // what stands before the sequence: "lock-", "__READ__", "__WRIT__"
	Sequence int32  // orders the queue, and wraps to negative numbers: compare by difference
}

// shown is the rule as the queues of a client ask it, which are locked meanwhile.
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
