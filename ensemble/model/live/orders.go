package live

import (
	"encoding/binary"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/cluster"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Orders chooses the order of messages when a client in memory deletes a node, which is
// how it releases a lock.
type Orders struct {
	Order cluster.Order
	Every time.Duration // the least time between two such releases
}

// noteRequest looks for a release in the requests of a client in memory. l is locked.
func (l *Live) noteRequest(data []byte) {
	if l.Orders == nil || l.Cluster.Now() < l.nextOrder || !deletes(data) {
		return
	}
	if l.Cluster.Hold(l.Orders.Order) {
		l.nextOrder = l.Cluster.Now() + l.Orders.Every
	}
}

// deletes reports whether one of several whole requests deletes a node.
func deletes(data []byte) bool {
	for len(data) >= 12 {
		if wire.Op(binary.BigEndian.Uint32(data[8:])) == wire.Delete {
			return true
		}
		n := uint64(binary.BigEndian.Uint32(data)) + 4
		if n > uint64(len(data)) {
			return false
		}
		data = data[n:]
	}
	return false
}
