package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The names of contender nodes are Curator's: _c_<uuid>-<kind><sequence>. The uuid
// finds a node whose create was never answered; the sequence orders the queue.
const (
	Lock   = "lock-"
	Read   = "__READ__"
	Write  = "__WRIT__"
	Permit = "lease-"
	Latch  = "latch-" // of LeaderLatch
)

// digits is the length of the sequence in a node's name.
const digits = 10

// The kinds of nodes in the queues of the recipes.
var (
	Locks      = []string{Lock}
	ReadWrites = []string{Read, Write}
	Permits    = []string{Permit}
	Latches    = []string{Latch}
	All        = []string{Lock, Read, Write, Permit, Latch}
)

// Place is one contender's place in a queue.
type Place struct {
	Node     string // name of its node
	Kind     string // the text before the sequence: "lock-", "__READ__", "__WRIT__"
	Sequence int32  // orders the queue, see order

	listed int64 // the number of the first list that had the node; 0: none
}

// ParsePlace returns the place of a child whose name has one of the kinds: the kind stands
// at the beginning or after a dash, and a sequence follows. Any other child, such as
// "block-0000000001", is no contender.
func ParsePlace(child string, kinds []string) (Place, bool) {
	for _, kind := range kinds {
		i := strings.LastIndex(child, kind)
		if i < 0 {
			continue
		}
		sequence, ok := parseSequence(child[i+len(kind):])
		return Place{Node: child, Kind: kind, Sequence: sequence}, ok && (i == 0 || child[i-1] == '-')
	}
	return Place{}, false
}

// parseSequence reads a sequence as the servers write it, with "%010d".
func parseSequence(text string) (int32, bool) {
	n, err := strconv.ParseInt(text, 10, 32)
	long := len(text) == 11 && n <= -1e9
	return int32(n), err == nil && text[0] != '+' && (len(text) == 10 || long)
}

// lastSequence is the sequence number from which on no contender is granted the lock. At
// the end of the range servers give 2147483647 to every node, and negative numbers to some:
// later nodes would stand ahead of a holder's, and several would be first at a time. A
// contender with such a number leaves the queue at once, so that the nodes of all others
// have numbers that order them. The million numbers in between are for contenders that try
// again.
const lastSequence = 1<<31 - 1<<20

// numbered returns ErrSequenceEnd for a contender whose number is at the end of the range
// of dir.
func (p Place) numbered(dir string) error {
	if p.Sequence >= 0 && p.Sequence < lastSequence {
		return nil
	}
	return fmt.Errorf("%w: stop the clients that use %s, and delete it", ErrSequenceEnd, dir)
}

// order compares places. It compares the sequence alone, not the name before it
// (ZOOKEEPER-2931). A sequence is a 32-bit counter that wraps to negative numbers
// (ZOOKEEPER-4372, kazoo #606), so the order is that of serial numbers, RFC 1982: right as
// long as a queue spans less than 2^31 places. A reader that was downgraded from a writer
// has the writer's sequence and comes right behind it (CURATOR-621).
func order(a, b Place) int {
	if d := a.Sequence - b.Sequence; d != 0 { // wraps as the counter does
		return int(d)
	}
	if c := cmp.Compare(b.Kind, a.Kind); c != 0 { // "__WRIT__" before "__READ__"
		return c
	}
	return cmp.Compare(a.Node, b.Node)
}

// Places returns the contenders of these kinds among the children of a lock's node, in the
// order of the queue. Other children are foreign and ignored: one must not block all
// contenders (CURATOR-43, zk.Lock).
func Places(children []string, kinds []string) []Place {
	places := make([]Place, 0, len(children))
	for _, child := range children {
		if p, ok := ParsePlace(child, kinds); ok {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, order)
	return places
}

// Rule decides whose turn it is, as the recipes' GrantRule does.
type Rule func(queue []Place, self int) (waitFor int)

// granted is the result of a rule when the contender may hold the lock.
const granted = -1

// Exclusive admits only the first contender: the rule of a mutex, and of writers.
func Exclusive(_ []Place, self int) int { return self - 1 }

// Shared admits a reader when no writer is ahead. It waits for the nearest writer: when
// that one has had its turn, all before it have had theirs. A writer with the reader's own
// sequence is the writer that it was downgraded from, and does not block it.
func Shared(queue []Place, self int) int {
	for i := self - 1; i >= 0; i-- {
		if queue[i].Kind == Write && queue[i].Sequence != queue[self].Sequence {
			return i
		}
	}
	return granted
}
