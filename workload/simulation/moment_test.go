package simulation

import (
	"encoding/binary"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// A write that is held back is one of a client's requests that may change a node, not a read, a ping, the
// begin of a connection or an answer.
func TestAHeldBackWriteIsCountedAmongWrites(t *testing.T) {
	frame := func(xid int32, op wire.Op) []byte {
		f := binary.BigEndian.AppendUint32(nil, 8)
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(f, uint32(xid)), uint32(op))
	}
	at := changes(2)
	for i, m := range []struct {
		reply bool
		data  []byte
		is    bool
	}{
		{false, frame(0, wire.Create), false}, {false, frame(1, wire.Create), false}, {false, frame(2, wire.GetData), false},
		{true, frame(3, wire.Multi), false}, {false, frame(-2, wire.Multi), false}, {false, append(frame(4, wire.GetData), frame(5, wire.Multi)...), true},
		{false, frame(6, wire.Multi), false},
	} {
		if at(m.reply, m.data) != m.is {
			t.Errorf("message %d: %v", i, !m.is)
		}
	}
}
