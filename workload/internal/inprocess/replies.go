package inprocess

import "encoding/binary"

// replies counts the answers in a server's stream, however it is cut into pieces. Frames begin
// with their length and the number of the request: those of pings and watches are negative, and
// the answer to a connect request has 0 there.
type replies struct {
	head [8]byte
	have int // bytes of head
	rest int // bytes of the frame that are still to come
}

// count reads the next piece of the stream, and returns the number of answers that begin in it.
func (r *replies) count(b []byte) (answers int) {
	for len(b) > 0 {
		if r.rest > 0 {
			n := min(r.rest, len(b))
			r.rest, b = r.rest-n, b[n:]
			continue
		}
		n := copy(r.head[r.have:], b)
		r.have, b = r.have+n, b[n:]
		if r.have < len(r.head) {
			break
		}
		if int32(binary.BigEndian.Uint32(r.head[4:])) > 0 {
			answers++
		}
		r.have, r.rest = 0, max(0, int(int32(binary.BigEndian.Uint32(r.head[:4])))-4)
	}
	return answers
}
