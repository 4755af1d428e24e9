package session

import (
	"encoding/binary"
	"io"
)

// Servers bound the requests that they take, and not their answers: a list of children may be
// larger than jute.maxbuffer. Such an answer is read past, and the request gets an answer in its
// place that says so (see tooLarge). Others on the connection do not notice: to give it up would
// have the request made again, with the same answer, for as long as its caller waits.

// mostSkipped is how large an answer may be that is read past.
const mostSkipped = 1 << 30

// skip reads past the next answer if that is too large, and leaves another one in its place. It
// does so at the beginning of a frame alone, and only for a request that waits for its answer. What
// it cannot read is left to the next read.
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

// awaited reports whether a request of this number waits for its answer.
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

// read reads what comes next, or what stands in its place.
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
