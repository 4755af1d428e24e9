package inprocess

import (
	"encoding/binary"
	"hash/maphash"
)

// replies finds the answers in a server's stream, however it is cut into pieces. Frames begin
// with their length and the number of the request: those of pings and watches are negative, and
// the answer to a connect request has 0 there. The last transaction that the server knows follows,
// then an error and the content.
type replies struct {
	head [replyHead]byte
	have int // bytes of head
	rest int // bytes of the frame that are still to come
	body maphash.Hash
}

// replyHead is the size of a frame's length, number and transaction.
const replyHead = 4 + 4 + 8

// read reads the next piece of the stream. It calls answered with the number of each request whose
// answer ends in it, and a hash of the error and the content.
func (r *replies) read(b []byte, answered func(xid int32, answer uint64)) {
	for len(b) > 0 {
		if r.have < replyHead {
			n := copy(r.head[r.have:], b)
			r.have, b = r.have+n, b[n:]
			if r.have < replyHead {
				return
			}
			r.rest = max(0, int(int32(binary.BigEndian.Uint32(r.head[:])))+4-replyHead)
			r.body.Reset()
		}
		n := min(r.rest, len(b))
		_, _ = r.body.Write(b[:n])
		if r.rest, b = r.rest-n, b[n:]; r.rest > 0 {
			return
		}
		if xid := int32(binary.BigEndian.Uint32(r.head[4:])); xid > 0 {
			answered(xid, r.body.Sum64())
		}
		r.have = 0
	}
}
