package queue

import "github.com/zkverify/zkverify/checker/internal/judge"

// QueueStep is a step of the queue model for contender i, counted in the order of places.
type QueueStep struct {
	I      int
	Kind   byte
	Served bool // it was granted the lock at some time
}

const (
	Enter = 'e' // takes its place: places are taken in order
	Grant = 'g' // is granted the lock: only at the head
	Leave = 'l' // leaves the queue, served or not
)

// QueueState is a queue: contenders Head to Next-1 stand in it.
type QueueState struct {
	Next, Head int
	Granted    bool // the head was granted the lock
}

// QueueModel is a FIFO queue. It does not model the lock: the contender at the head may be
// granted the lock whether or not another process still holds it, so that a broken mutual
// exclusion is not reported twice.
//
// Contenders may leave from any place in the queue, but in the model they leave only at its
// head, and after their own grant if they have one. That loses no history: a departure has no
// latest time and matters only to the next grant further behind, before which all contenders
// ahead must have left. If they are put off until just before that grant, all those departures
// can take place in the order of the queue. It also makes the search cheap: the state alone
// determines the steps taken so far, so the search cannot explode, however many contenders
// leave at an unknown time.
func QueueModel(begin QueueState) judge.Model[QueueState, QueueStep] {
	return judge.Model[QueueState, QueueStep]{
		Begin: begin,
		Step: func(s QueueState, in QueueStep) (bool, QueueState) {
			switch in.Kind {
			case Enter:
				// Places that were not reported do not count: I is the rank among
				// those that were.
				return in.I == s.Next, QueueState{s.Next + 1, s.Head, s.Granted}
			case Grant:
				return in.I == s.Head && in.I < s.Next && !s.Granted, QueueState{s.Next, s.Head, true}
			default:
				return in.I == s.Head && in.I < s.Next && s.Granted == in.Served, QueueState{s.Next, s.Head + 1, false}
			}
		},
		Hash: func(s QueueState) uint64 {
			h := uint64(s.Next)*0x9e3779b97f4a7c15 ^ uint64(s.Head)*0xc2b2ae3d27d4eb4f
			if s.Granted {
				h++
			}
			return h
		},
	}
}
