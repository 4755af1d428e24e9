package session

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

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

// A server may send any bytes: a reply that is cut off has no path.
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

// tape is a connection to a server that sends a fixed text.
type tape struct {
	net.Conn
	*bytes.Reader
}

func (t tape) Read(p []byte) (int, error)    { return t.Reader.Read(p) }
func (tape) Write(p []byte) (int, error)     { return len(p), nil }
func (tape) SetReadDeadline(time.Time) error { return nil }
func (tape) Close() error                    { return nil }

// go-zookeeper reads exactly the bytes that a server has sent: they are not changed on the
// way, and no byte of a frame that is too long is handed out.
func FuzzWire(f *testing.F) {
	const longest = 1000
	shaken := binary.BigEndian.AppendUint32(nil, minHandshake)
	shaken = binary.BigEndian.AppendUint32(shaken, 0)
	shaken = binary.BigEndian.AppendUint32(shaken, 4000)
	shaken = binary.BigEndian.AppendUint64(shaken, 7)
	shaken = append(binary.BigEndian.AppendUint32(shaken, passwordSize), make([]byte, passwordSize)...)
	reply := func(xid, code int32, body ...byte) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(replyHeader+len(body)))
		b = binary.BigEndian.AppendUint32(b, uint32(xid))
		b = binary.BigEndian.AppendUint64(b, 9)
		return append(binary.BigEndian.AppendUint32(b, uint32(code)), body...)
	}
	f.Add(shaken)
	f.Add(bytes.Join([][]byte{shaken, reply(1, 0, 0, 0, 0, 2, '/', 'a'), reply(2, -101), reply(3, 0, 0, 0, 0, 1, 0)}, nil))
	f.Add(bytes.Join([][]byte{shaken, reply(-1, 0, make([]byte, 12)...), reply(1, authDemanded)}, nil))
	f.Add(append(shaken[:len(shaken):len(shaken)], 0, 0, 4, 0))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		w := newWireConn(tape{Reader: bytes.NewReader(said)}, &probe{asked: 4 * time.Second}, goClock{}, time.Hour, longest)
		for _, p := range [][]byte{connectRequest(4 * time.Second), plainRequest(1, opCreate), plainRequest(2, opDelete), plainRequest(3, opMulti), authRequest(Auth{"digest", func() []byte { return nil }})} {
			if _, err := w.Write(p); err != nil {
				t.Fatal(err)
			}
		}
		got, err := io.ReadAll(w)
		if !bytes.HasPrefix(said, got) || err == nil && len(got) < len(said) {
			t.Errorf("of %x it hands out %x, %v", said, got, err)
		}
		for rest := got; len(rest) >= 4; {
			n := int(binary.BigEndian.Uint32(rest))
			if n > longest {
				t.Errorf("%x has a frame of %d bytes", got, n)
			}
			rest = rest[min(4+n, len(rest)):]
		}
	})
}
