package session

import "time"

// lane is the queue of a session's requests that a server has put off because it had too
// much to do. They are made again one at a time: a session with many such requests asks no
// more often than a session with one. Before each there is a pause, of 20 ms at first,
// twice as long after each request that is put off again, at most 1 s and at most a sixteenth of
// the session timeout, and half of it random: in the session timeout that a request has, there is
// time for some twenty tries. With pauses of up to 1 s in a session timeout of 6 s there was time
// for ten, and a server that puts off a third of the requests put off all ten of some.
type lane struct {
	turn   chan struct{} // capacity 1: full while a request is made again
	pauses int           // the number in a row that were too short; the turn is its lock
}

const (
	shortestPutOff = 20 * time.Millisecond
	longestPutOff  = time.Second
)

func newLane() *lane { return &lane{turn: make(chan struct{}, 1)} }

// pause returns the wait before the next request of a session with that timeout.
func (l *lane) pause(timeout time.Duration) time.Duration {
	d := min(longestPutOff, timeout/16, shortestPutOff<<min(l.pauses, 16))
	return d/2 + Random(d/2)
}

// ask makes a request. A request that a server has put off is made again, in its lane,
// until the server carries it out or a session timeout has passed, or until gone is closed.
func ask[T any](s *Session, in *lane, gone <-chan struct{}, request func() (T, error)) (T, error) {
	value, err := request()
	if err = Outcome(err); !putOff(err) {
		return value, err
	}
	select {
	case in.turn <- struct{}{}:
		defer func() { <-in.turn }()
	case <-gone:
		return value, err
	case <-s.Ended:
		return value, ErrEnded
	}
	over := time.NewTimer(s.Timeout())
	defer over.Stop()
	for {
		wait := time.NewTimer(in.pause(s.Timeout()))
		select {
		case <-wait.C:
		case <-over.C:
			wait.Stop()
			return value, err
		case <-gone:
			wait.Stop()
			return value, err
		case <-s.Ended:
			wait.Stop()
			return value, ErrEnded
		}
		value, err = request()
		if err = Outcome(err); !putOff(err) {
			in.pauses = 0
			return value, err
		}
		in.pauses++
	}
}
