package recipes

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Names of contender nodes are Curator's: _c_<uuid>-<kind><sequence>. The uuid
// finds a node whose create was never answered; the sequence orders the queue.
const (
	lockKind  = "lock-"
	readKind  = "__READ__"
	writeKind = "__WRIT__"
	leaseKind = "lease-"
)

var (
	lockKinds      = []string{lockKind}
	readWriteKinds = []string{readKind, writeKind}
	leaseKinds     = []string{leaseKind}
	allKinds       = []string{lockKind, readKind, writeKind, leaseKind}
)

// newGUID returns a random UUID (version 4) as text. It has to be unique, not
// secret: the runtime's generator, which the system seeds, will do, and needs no
// deep stack, which a waiter would keep.
func newGUID() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], rand.Uint64())
	binary.BigEndian.PutUint64(b[8:], rand.Uint64())
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	text := make([]byte, 0, 36)
	for i, part := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text = append(text, '-')
		}
		text = append(text, hexDigits[part>>4], hexDigits[part&0xf])
	}
	return string(text)
}

const hexDigits = "0123456789abcdef"

func protectedName(guid, kind string) string { return "_c_" + guid + "-" + kind }

// guidOf returns the uuid in the name of a protected node, or "".
func guidOf(name string) string {
	const length = 36
	if !strings.HasPrefix(name, "_c_") || len(name) < 3+length {
		return ""
	}
	return name[3 : 3+length]
}

// Place is one contender's place in a queue.
type Place struct {
	Node     string // name of its node
	Kind     string // what stands before the sequence: "lock-", "__READ__", "__WRIT__"
	Sequence int32  // orders the queue, see queue

	listed int64 // the number of the first list that it was seen in; 0: none
}

// parsePlace returns the place of a child, if its name is of one of the kinds:
// the kind stands at the beginning or behind a dash, and a sequence follows.
// Whatever else there is, a "block-0000000001" say, is no contender.
func parsePlace(child string, kinds []string) (Place, bool) {
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

// order compares places. It is by sequence alone, whatever comes before it in
// the name (ZOOKEEPER-2931). A sequence is a 32-bit counter that wraps to
// negative numbers (ZOOKEEPER-4372, kazoo #606), so that the order is that of
// serial numbers, RFC 1982: right as long as a queue spans less than 2^31
// places. A reader that was downgraded from writer has the writer's sequence and
// comes right behind it (CURATOR-621).
func order(a, b Place) int {
	if d := a.Sequence - b.Sequence; d != 0 { // wraps as the counter does
		return int(d)
	}
	if c := cmp.Compare(b.Kind, a.Kind); c != 0 { // "__WRIT__" before "__READ__"
		return c
	}
	return cmp.Compare(a.Node, b.Node)
}

// queue returns the contenders of these kinds among the children of a lock's
// node, first the one whose turn it is. Other children are foreign and ignored:
// one must not block everybody (CURATOR-43, zk.Lock).
func queue(children []string, kinds []string) []Place {
	places := make([]Place, 0, len(children))
	for _, child := range children {
		if p, ok := parsePlace(child, kinds); ok {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, order)
	return places
}
