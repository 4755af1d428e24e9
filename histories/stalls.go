package histories

import "time"

// stalls detects that the recording process stood still: when the process is stopped, or
// gets no processor, all its goroutines are late. It compares the times at which the
// recorder was used, by any goroutine or by tick.
type stalls struct {
	longest time.Duration // the longest time without use that is no stall; 0: stalls are not detected
	used    time.Duration // when the recorder was last used
}

// lookEvery returns the interval at which tick has to use the recorder. A recorded stall is
// then too long by at most a quarter of longest.
func (s *stalls) lookEvery() time.Duration {
	if s.longest <= 0 {
		return flushEvery
	}
	return min(flushEvery, max(s.longest/4, time.Millisecond))
}

// recordStall notes that the recorder is used now, and records the stall that has just
// ended, if there was one. The caller holds mu.
func (r *Recorder) recordStall(now time.Duration) error {
	since := r.stalls.used
	r.stalls.used = now
	if r.stalls.longest <= 0 || now-since <= r.stalls.longest || r.err != nil || r.closed {
		return r.err
	}
	e := Event{Time: now, Type: Stalled, Process: -1, Since: since}
	if err := r.valid.check(&e); err != nil {
		return err // cannot happen: since is not before the last event
	}
	return r.append(&e)
}
