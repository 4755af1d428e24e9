package live

import (
	"encoding/binary"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/cluster"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Orders has messages go in an order of choice when a client in memory deletes a node: so a
// lock is released.
type Orders struct {
	Order cluster.Order
	Every time.Duration // the least from one such release to the next
}

// noteRequest looks for a release in what a client in memory asks for. l is locked.
func (l *Live) noteRequest(data []byte) {
	if l.Orders == nil || l.Cluster.Now() < l.nextOrder || !deletes(data) {
		return
	}
	if l.Cluster.Hold(l.Orders.Order) {
		l.nextOrder = l.Cluster.Now() + l.Orders.Every
	}
}

// deletes reports whether one of some whole requests deletes a node.
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
