package session

import (
	"encoding/binary"
	"io"
)

// Servers bound the size of requests, but not of answers: a list of children may be
// larger than jute.maxbuffer. Such an answer is skipped, and the request gets an error in its
// place (see tooLarge). Other requests on the connection do not notice. Closing the
// connection would repeat the request, with the same answer, for as long as its caller waits.

// mostSkipped is the size of the largest answer that is skipped.
const mostSkipped = 1 << 30

// skip reads past the next answer if it is too large, and leaves another one in its place.
// It does so only at the beginning of a frame, and only for a request that waits for its
// answer. Errors of its reads are left to the next read.
func (w *wireConn) skip() {
	if !w.frames.between() {
		return
	}
	head, err := w.in.Peek(4)
	if err != nil {
		return
	}
	size := int(int32(binary.BigEndian.Uint32(head)))
	if size <= w.frames.most || size > mostSkipped {
		return
	}
	if head, err = w.in.Peek(4 + replyHeader); err != nil || !w.awaited(int32(binary.BigEndian.Uint32(head[4:]))) {
		return
	}
	code := int32(tooLarge)
	answer := binary.BigEndian.AppendUint32(nil, replyHeader)
	answer = append(answer, head[4:16]...) // its number, and the transaction
	answer = binary.BigEndian.AppendUint32(answer, uint32(code))
	if _, err := io.CopyN(io.Discard, w.in, int64(4+size)); err != nil {
		return
	}
	w.instead = answer
}

// awaited reports whether a request with this number waits for its answer.
func (w *wireConn) awaited(xid int32) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.pending {
		if c.xid == xid {
			return true
		}
	}
	return false
}

// read reads the next bytes of the connection, or of an answer that replaces a skipped one.
func (w *wireConn) read(p []byte) (n int, err error) {
	if len(w.instead) == 0 {
		w.skip()
	}
	if len(w.instead) > 0 {
		n = copy(p, w.instead)
		w.instead = w.instead[n:]
		return n, nil
	}
	return w.in.Read(p)
}

// between reports whether the next byte is the first of a frame.
func (r *frameReader) between() bool { return r.passed == 0 && r.nsize == 0 && r.left == 0 }
