package simulation

import (
	"encoding/binary"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// The messages at which a strike can act, besides the n-th: a request of one of these sorts, with the
// ending askedSuffix or doneSuffix; and an event.
const (
	momentCreate = "create" // of a node of a queue
	momentSettle = "settle" // the write after a lost answer: a delete, perhaps of no node
	momentDelete = "delete"
	momentWrite  = "write" // guarded by a node
	momentEvent  = "event"

	askedSuffix = ".asked" // the request
	doneSuffix  = ".done"  // its answer, unless a create has failed
)

// moment returns a function that reports, of each message of one link in turn, whether it is the one of a
// name, or the n-th for no name.
func moment(name string, n int) func(reply bool, data []byte) bool {
	if name == "" {
		return func(bool, []byte) bool { n--; return n == 0 }
	}
	sort, done := strings.CutSuffix(strings.TrimSuffix(name, askedSuffix), doneSuffix)
	if sort == momentSettle {
		sort = momentDelete
	}
	asked := map[int32]bool{}
	return func(reply bool, data []byte) (is bool) {
		frames, _ := (&framing{}).take(data)
		for _, f := range frames {
			if len(f) < requestHead {
				continue
			}
			xid := int32(binary.BigEndian.Uint32(f))
			switch {
			case reply:
				carriedOut := len(f) >= replyHead && (sort != momentCreate || binary.BigEndian.Uint32(f[12:]) == 0)
				is = is || done && asked[xid] && carriedOut || sort == momentEvent && xid == wire.NotificationXid
			case sortOf(f) == sort:
				asked[xid], is = true, is || !done
			}
		}
		return is
	}
}

// lateWrites is the number of the first writes of a step of which one is held back.
const lateWrites = 3

// changes returns a function that reports, of each message of one link in turn, whether it has the n-th
// request that may change a node.
func changes(n int) func(reply bool, data []byte) bool {
	return func(reply bool, data []byte) bool {
		frames, _ := (&framing{}).take(data)
		for _, f := range frames {
			if reply || len(f) < requestHead || int32(binary.BigEndian.Uint32(f)) <= 0 { // 0: it connects
				continue
			}
			switch op := wire.Op(int32(binary.BigEndian.Uint32(f[4:]))); op {
			case wire.Create, wire.Create2, wire.CreateContainer, wire.SetData, wire.Delete, wire.Multi:
				if n--; n == 0 {
					return true
				}
			}
		}
		return false
	}
}

// sortOf returns the sort of a request, "" for one at which no strike acts.
func sortOf(frame []byte) string {
	op := wire.Op(int32(binary.BigEndian.Uint32(frame[4:])))
	switch op {
	case wire.Delete:
		return momentDelete
	case wire.Multi:
		return momentWrite
	}
	if r, ok := wire.NewRequest(op).(*wire.CreateRequest); ok {
		if _, err := wire.Decode(frame[requestHead:], r); err == nil && r.Flags&wire.FlagEphemeralSequential == wire.FlagEphemeralSequential {
			return momentCreate
		}
	}
	return ""
}
