package histories

import "time"

// stalls notices when the process that records has stood still: when it is stopped, or
// gets no processor, every goroutine of it is late. It goes by when the recorder was last
// used, by any goroutine or by tick.
type stalls struct {
	longest time.Duration // that is none; 0: stalls are not noticed
	used    time.Duration // when the recorder was last used
}

// lookEvery is how often tick has to use the recorder. A stall is then on record with at
// most a quarter of longest too much.
func (s *stalls) lookEvery() time.Duration {
	if s.longest <= 0 {
		return flushEvery
	}
	return min(flushEvery, max(s.longest/4, time.Millisecond))
}

// recordStall takes in that the recorder is used now, and records the stall that has just
// ended, if there was one. The caller holds mu.
func (r *Recorder) recordStall(now time.Duration) error {
	since := r.stalls.used
	r.stalls.used = now
	if r.stalls.longest <= 0 || now-since <= r.stalls.longest || r.err != nil || r.closed {
		return r.err
	}
	e := Event{Time: now, Type: Stalled, Process: -1, Since: since}
	if err := r.valid.check(&e); err != nil {
		return err // it cannot: since is not before the last event
	}
	return r.append(&e)
}
