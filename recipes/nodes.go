package recipes

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Names of contender nodes are Curator's: _c_<uuid>-lock-<sequence>. The uuid
// finds a node whose create was never answered; the sequence orders the queue.
const lockName = "lock-"

// newGUID returns a random UUID (version 4) as text.
func newGUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails, says its documentation
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func protectedName(guid, name string) string { return "_c_" + guid + "-" + name }

// entry is one contender's node in a queue.
type entry struct {
	name     string
	sequence int32
}

// queue returns the contenders among the children of a lock's node, first the
// one whose turn it is. Children whose names do not hold the lock's name and a
// sequence number are foreign and ignored: one must not block everybody
// (CURATOR-43, zk.Lock).
//
// The order is by sequence alone, whatever comes before it in the name
// (ZOOKEEPER-2931). A sequence is a 32-bit counter that wraps to negative
// numbers (ZOOKEEPER-4372, kazoo #606), so that the order is that of serial
// numbers, RFC 1982: right as long as a queue spans less than 2^31 places.
func queue(children []string, name string) []entry {
	entries := make([]entry, 0, len(children))
	for _, child := range children {
		i := strings.LastIndex(child, name)
		if i < 0 {
			continue
		}
		n, err := strconv.ParseInt(child[i+len(name):], 10, 32)
		if err != nil {
			continue
		}
		entries = append(entries, entry{child, int32(n)})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return int(a.sequence - b.sequence) // wraps as the counter does
	})
	return entries
}
