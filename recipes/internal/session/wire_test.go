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
			want = append(want, body[:min(maxHead, len(body))])
		}
		var got [][]byte
		r := frameReader{least: 1, most: 2 * maxHead, frame: func(head []byte) { got = append(got, bytes.Clone(head)) }}
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
