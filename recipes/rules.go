package recipes

// GrantRule decides whose turn it is. queue holds the contenders of one lock in
// the order of their turns, and queue[self] asks. The rule returns the index of
// the contender to wait for, or −1 when queue[self] may hold the lock now.
//
// A rule is a pure function, and must be the same for all contenders of a lock.
// Whatever it returns must be less than self: contenders come behind the last
// one, and nobody waits for who comes later (kazoo #649). A contender that
// waits must wait also with more contenders ahead of it: the queue that a rule
// is shown may lack some of them, but never when it grants. A rule that returns
// something else makes the acquire fail with [ErrBadRule].
//
// With a rule of the user's every waiter looks again whenever anybody joins or
// leaves, which costs a list each: rules that admit several at a time cannot say
// whose leaving will be enough. The package's own can, and wake one waiter.
type GrantRule func(queue []Place, self int) (waitFor int)

// granted is what a GrantRule returns when the lock may be held.
const granted = -1

// exclusive admits the first alone: the rule of a mutex, and of writers.
func exclusive(_ []Place, self int) int { return self - 1 }

// shared admits a reader when no writer is ahead. It waits for the nearest
// writer: when that one has had its turn, so have all before it. A writer of its
// own sequence is the one that it was downgraded from, and not in its way.
func shared(queue []Place, self int) int {
	for i := self - 1; i >= 0; i-- {
		if queue[i].Kind == writeKind && queue[i].Sequence != queue[self].Sequence {
			return i
		}
	}
	return granted
}
