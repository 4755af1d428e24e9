package inprocess

import (
	"encoding/binary"
	"slices"
	"testing"
)

func TestAnswersAreCountedHoweverTheyAreCut(t *testing.T) {
	said := response(0x10002, "0123456789abcdef")
	for _, xid := range []int32{1, -2, 2, -1, 3} { // -2 is of a ping, -1 of a watch
		frame := binary.BigEndian.AppendUint32(nil, 16+uint32(xid&3))
		frame = binary.BigEndian.AppendUint32(frame, uint32(xid))
		said = append(said, append(frame, make([]byte, 12+xid&3)...)...)
	}
	for _, size := range []int{1, 3, 4, 7, len(said)} {
		var r replies
		answers := 0
		for piece := range slices.Chunk(said, size) {
			r.read(piece, func(int32, uint64) { answers++ })
		}
		if answers != 3 {
			t.Errorf("in pieces of %d bytes: %d answers, want 3", size, answers)
		}
	}
}
