package recipes

import (
	"cmp"
	"crypto/rand"
	"fmt"
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
)

// newGUID returns a random UUID (version 4) as text.
func newGUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails, says its documentation
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

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

// parsePlace returns the place of a child, if its name is of one of the kinds.
func parsePlace(child string, kinds []string) (Place, bool) {
	for _, kind := range kinds {
		i := strings.LastIndex(child, kind)
		if i < 0 {
			continue
		}
		sequence, err := strconv.ParseInt(child[i+len(kind):], 10, 32)
		return Place{Node: child, Kind: kind, Sequence: int32(sequence)}, err == nil
	}
	return Place{}, false
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
