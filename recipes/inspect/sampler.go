package inspect

import (
	"cmp"
	"slices"
	"time"
)

// Sampler compares snapshots that are taken one after the other, and computes how often
// each lock is granted, and for how long it is held and waited for.
//
// The servers count the grants, so none is missed between two snapshots, however short. The
// count is the number of contenders that left the queue, and of semaphores the number of
// permits that were taken: a contender that gave up, or a try that was refused, counts as a
// grant. Holds and waits are those whose beginning and end were both seen, to the time
// between two snapshots. Of those that one snapshot alone has seen, only a bound is known. A
// wait ends when the contender holds the lock or is gone. A hold that begins and ends between
// two snapshots is not seen: where most are that short, the quantiles are those of the longer
// ones.
type Sampler struct {
	locks  map[string]*sampled // by path
	begun  time.Time           // of the interval of Rates
	last   time.Time           // snapshot
	number int                 // of snapshots
}

// sampled is the record of a lock.
type sampled struct {
	lock   Lock
	number int     // of the last snapshot that had it
	counts counter // when the interval began, or the lock was first seen
	seen   map[string]stay
	holds  recent
	waits  recent
}

// stay is the record of a contender. A time is zero if its event was not seen.
type stay struct {
	holds         bool
	came, granted moment
}

// moment is the first snapshot that saw a change, and the one before, which did not see it yet.
type moment struct{ before, at time.Time }

// until returns the time between two changes: to the time between two snapshots, or if one
// snapshot alone has seen the state in between, the longest that it can have been.
func (from moment) until(to moment) span {
	if from.at.Equal(to.before) {
		return span{to.at.Sub(from.before), true}
	}
	return span{to.at.Sub(from.at), false}
}

// span is a duration, or a bound of one.
type span struct {
	time.Duration
	atMost bool
}

// forget is the number of snapshots for which a lock that is not in use is remembered.
const forget = 1000

// Add adds the next snapshot.
func (s *Sampler) Add(snapshot *Snapshot) {
	at := snapshot.At
	if s.locks == nil {
		s.locks, s.begun = make(map[string]*sampled), at
	}
	s.number++
	for _, l := range snapshot.Locks {
		known := s.locks[l.Path]
		if known == nil {
			known = &sampled{counts: l.grants, seen: make(map[string]stay)}
			s.locks[l.Path] = known
		}
		known.add(l, moment{s.last, at}, s.number > 1)
		known.number = s.number
	}
	for path, known := range s.locks {
		switch {
		case known.number == s.number:
		case s.number-known.number > forget:
			delete(s.locks, path)
		case len(known.seen) > 0:
			known.add(Lock{Path: path, Recipe: known.lock.Recipe, grants: known.lock.grants}, moment{s.last, at}, true)
		}
	}
	s.last = at
}

// add adds the present state of the lock. If beginnings is true, new contenders came just
// now.
func (k *sampled) add(l Lock, at moment, beginnings bool) {
	now := make(map[string]stay, len(l.Queue))
	for i := range l.Queue {
		c := &l.Queue[i]
		before, known := k.seen[c.Path]
		if !known && beginnings {
			before.came = at
		}
		if c.Holds && !before.holds {
			if !before.came.at.IsZero() && c.Kind != KindPermit { // the contender that waited for a permit had another node
				k.waits.add(before.came.until(at))
			}
			if known || beginnings {
				before.granted = at
			}
		}
		before.holds = c.Holds
		now[c.Path] = before
	}
	for path, before := range k.seen {
		_, stays := now[path]
		switch {
		case stays:
		case before.holds && !before.granted.at.IsZero():
			k.holds.add(before.granted.until(at))
		case !before.holds && !before.came.at.IsZero():
			k.waits.add(before.came.until(at))
		}
	}
	k.lock, k.seen = l, now
}

// Rate is the use of a lock.
type Rate struct {
	Lock Lock // as it was last seen
	// Grants is the number of grants a second since the last call of Rates, or since the lock was
	// first seen. Counted is false when it is not known: no time has passed, or the lock's node is
	// another one.
	Grants       float64
	Counted      bool
	Holds, Waits Quantiles
}

// Quantiles holds quantiles of the last 256 durations that were seen. N counts all
// durations. AtMost50 and AtMost99 report that the quantile is a bound, see [Sampler].
type Quantiles struct {
	N                  int
	P50, P99           time.Duration
	AtMost50, AtMost99 bool
}

// Rates returns the use of the locks of the last snapshot since the last call. The locks
// are in no order.
func (s *Sampler) Rates() (rates []Rate) {
	took := s.last.Sub(s.begun).Seconds()
	for _, known := range s.locks {
		if known.number == s.number {
			r := Rate{Lock: known.lock, Holds: known.holds.quantiles(), Waits: known.waits.quantiles()}
			came, went, ok := known.lock.grants.since(known.counts)
			if known.lock.Recipe == Semaphore {
				went = came
			}
			if ok && took > 0 {
				r.Grants, r.Counted = float64(went)/took, true
			}
			rates = append(rates, r)
		}
		known.counts = known.lock.grants
	}
	s.begun = s.last
	return rates
}

// recent keeps the last durations.
type recent struct {
	n    int
	last []span
}

const recentDurations = 256

func (r *recent) add(d span) {
	if len(r.last) < recentDurations {
		r.last = append(r.last, d)
	} else {
		r.last[r.n%recentDurations] = d
	}
	r.n++
}

func (r *recent) quantiles() Quantiles {
	if r.n == 0 {
		return Quantiles{}
	}
	sorted := slices.SortedFunc(slices.Values(r.last), func(a, b span) int { return cmp.Compare(a.Duration, b.Duration) })
	at := func(q float64) span { return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))] }
	p50, p99 := at(0.50), at(0.99)
	return Quantiles{r.n, p50.Duration, p99.Duration, p50.atMost, p99.atMost}
}
