package checker

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/anishathalye/porcupine"
)

// queueStep is an operation of the queue model on contender i, counted in the
// order of places.
type queueStep struct {
	i    int
	kind byte
}

const (
	enter = 'e' // takes its place: places are taken in order
	grant = 'g' // is granted the lock: only at the head
	leave = 'l' // leaves the queue, served or not
)

// queueState is the next place to be taken, then those in the queue, as
// uvarints: a string, so that states compare and hash.
type queueState string

// queueModel is the FIFO queue. It has no lock in it: who stands at the head
// may be granted the lock whether or not somebody still holds it, so that a
// broken mutual exclusion is not reported twice.
func queueModel(initial queueState) porcupine.Model {
	seed := maphash.MakeSeed()
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			s, in := []byte(state.(queueState)), input.(queueStep)
			next, n := binary.Uvarint(s)
			waiting := s[n:]
			if in.kind == enter {
				// Places that nobody reported do not count: i is the rank
				// among those that were.
				if uint64(in.i) != next {
					return false, state
				}
				out := append(pack(nil, next+1), waiting...)
				return true, queueState(pack(out, next))
			}
			at, length := find(waiting, uint64(in.i))
			if at < 0 || in.kind == grant && at > 0 {
				return false, state
			}
			if in.kind == grant {
				return true, state
			}
			out := append(append([]byte(nil), s[:n+at]...), waiting[at+length:]...)
			return true, queueState(out)
		},
		Hash: func(state any) uint64 { return maphash.String(seed, string(state.(queueState))) },
	}
}

func pack(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// find returns where v is packed in b, and how long it is, or -1.
func find(b []byte, v uint64) (at, length int) {
	for i := 0; i < len(b); {
		w, n := binary.Uvarint(b[i:])
		if w == v {
			return i, n
		}
		i += n
	}
	return -1, 0
}

// queue searches one lock's queue, sorted by place, and stops at the first
// illegal segment.
func (s *search) queue(queue []*contender) answer {
	out := answer{porcupine.Ok, ""}
	for _, seg := range cutQueue(queue, s.size) {
		switch a := s.run(queueModel(seg.state), seg.ops); a.result {
		case porcupine.Illegal:
			return a
		case porcupine.Unknown:
			out = a
		}
	}
	return out
}
