package session

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

func TestFramesAreReadAlongInPiecesOfAnySize(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var want [][]byte
		var stream []byte
		for _, body := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 1, 2*maxHead)).Draw(t, "frames") {
			stream = binary.BigEndian.AppendUint32(stream, uint32(len(body)))
			stream = append(stream, body...)
			want = append(want, body)
		}
		var got [][]byte
		r := frameReader{least: 1, most: 2 * maxHead, frame: func(frame []byte) error { got = append(got, bytes.Clone(frame)); return nil }}
		for len(stream) > 0 {
			n := rapid.IntRange(1, len(stream)).Draw(t, "piece")
			if err := r.feed(stream[:n]); err != nil {
				t.Fatal(err)
			}
			stream = stream[n:]
		}
		if len(got) != len(want) {
			t.Fatalf("%d frames, want %d", len(got), len(want))
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("frame %d: %x, want %x", i, got[i], want[i])
			}
		}
	})
}

// A server may answer with anything: what is cut off has no path.
func TestNoReplyThatIsCutOffHasAPath(t *testing.T) {
	t.Parallel()
	create := append(binary.BigEndian.AppendUint32(nil, 2), "/a"...)
	multi := append(binary.BigEndian.AppendUint32(nil, opCreate), 0, 0, 0, 0, 0)
	for op, reply := range map[int32][]byte{opCreate: create, opMulti: append(multi, create...)} {
		for n := range reply {
			if path := createdPath(op, reply[:n]); path != "" {
				t.Errorf("operation %d: the first %d bytes have the path %q", op, n, path)
			}
		}
		if path := createdPath(op, reply); path != "/a" {
			t.Errorf("operation %d: %q", op, path)
		}
	}
}
