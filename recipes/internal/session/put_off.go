package session

import "time"

// lane is the queue of a session's requests that a server has put off because it had too
// much to do. They are made again one at a time: a session with many such requests asks no
// more often than a session with one. Before each there is a pause, of 20 ms at first,
// twice as long after each request that is put off again, at most 1 s, and half of it
// random.
type lane struct {
	turn   chan struct{} // capacity 1: full while a request is made again
	pauses int           // the number in a row that were too short; the turn is its lock
}

const (
	shortestPutOff = 20 * time.Millisecond
	longestPutOff  = time.Second
	// fewestTries bounds the chance that a request fails at servers that do serve: with a session
	// timeout of 6 s there is time for twelve tries, and servers that put off some 40 % of the
	// requests put off twelve in a row of one request in some 30,000, but twenty of one in 10⁷.
	fewestTries = 20
)

func newLane() *lane { return &lane{turn: make(chan struct{}, 1)} }

// pause returns the wait before the next request.
func (l *lane) pause() time.Duration {
	d := min(longestPutOff, shortestPutOff<<min(l.pauses, 16))
	return d/2 + Random(d/2)
}

// ask makes a request. A request that a server has put off is made again, in its lane,
// until the server carries it out, until a session timeout has passed and it has been tried
// fewestTries times, or until gone is closed.
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
	for began, tries := time.Now(), 0; tries < fewestTries || time.Since(began) < s.Timeout(); tries++ {
		wait := time.NewTimer(in.pause())
		select {
		case <-wait.C:
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
	return value, err
}
