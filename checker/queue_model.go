package checker

// queueStep is an operation of the queue model on contender i, counted in the
// order of places.
type queueStep struct {
	i      int
	kind   byte
	served bool // it was granted the lock, at some time
}

const (
	enter = 'e' // takes its place: places are taken in order
	grant = 'g' // is granted the lock: only at the head
	leave = 'l' // leaves the queue, served or not
)

// queueState is a queue: those from head to next-1 stand in it.
type queueState struct {
	next, head int
	granted    bool // the head was granted the lock
}

// queueModel is the FIFO queue. It has no lock in it: who stands at the head
// may be granted the lock whether or not somebody still holds it, so that a
// broken mutual exclusion is not reported twice.
//
// Contenders may leave from anywhere in the queue, but in the model they leave
// at its head only, and after their own grant if they have one. That loses
// nothing: a departure has no latest time and matters only to the next grant
// further behind, before which everybody ahead must have left; put off until
// just before that grant, all those departures can take place in the order of
// the queue. And it gains everything: what has happened is determined by the
// state alone, so that the search cannot explode, however many contenders leave
// at an unknown time.
func queueModel(begin queueState) model[queueState, queueStep] {
	return model[queueState, queueStep]{
		begin: begin,
		step: func(s queueState, in queueStep) (bool, queueState) {
			switch in.kind {
			case enter:
				// Places that nobody reported do not count: i is the rank
				// among those that were.
				return in.i == s.next, queueState{s.next + 1, s.head, s.granted}
			case grant:
				return in.i == s.head && in.i < s.next && !s.granted, queueState{s.next, s.head, true}
			default:
				return in.i == s.head && in.i < s.next && s.granted == in.served, queueState{s.next, s.head + 1, false}
			}
		},
		hash: func(s queueState) uint64 {
			h := uint64(s.next)*0x9e3779b97f4a7c15 ^ uint64(s.head)*0xc2b2ae3d27d4eb4f
			if s.granted {
				h++
			}
			return h
		},
	}
}
