package checker

import "time"

// oldest returns a function that tells of a lock since when some operation of a
// kind has been under way on it: forever, if there is none.
func (t *trace) oldest(of func(*op) bool) func(lock string) time.Duration {
	found := map[string]time.Duration{}
	if t.last {
		return func(string) time.Duration { return forever }
	}
	for _, p := range t.procs {
		for _, o := range p.open {
			if at, ok := found[o.lock]; of(o) && (!ok || o.call < at) {
				found[o.lock] = o.call
			}
		}
	}
	return func(lock string) time.Duration {
		if at, ok := found[lock]; ok {
			return at
		}
		return forever
	}
}
