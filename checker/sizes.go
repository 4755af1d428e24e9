package checker

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// sizes is what is known of a semaphore's size in the course of time.
type sizes struct {
	all []sizeChange // by call; the first is the size that the run began with
	// exact is false when two changes overlap, as one that was never answered
	// does with all after it: then the order of the changes is not known, and
	// most is but a bound.
	exact bool
	steps []sizeStep // by time
	// changed is when the first change was called, of all that there have been.
	changed time.Duration
	// returned[i] is when the last of the first i+1 changes returned.
	returned []time.Duration
}

// sizeChange is one change of the size. It can be in force in [call, until]: at
// until another one, which was called after this one had returned, has returned.
type sizeChange struct {
	size             int
	process, event   int // whose it is, and its invocation
	call, ret, until time.Duration
	by               int64 // the transaction that made it, if that is known; otherwise 0
}

// sizeStep says what the size can be at most at an instant, and right after it.
type sizeStep struct {
	time     time.Duration
	at, then int
}

// sizesOf returns the sizes of a lock. A change that failed had no effect, one
// that was not answered may have it at any time, or never.
func (t *trace) sizesOf(lock string) *sizes {
	all := []sizeChange{t.firstSize(lock)}
	for _, o := range t.ops {
		if o.kind != histories.SetSize || o.lock != lock || o.result == histories.Fail {
			continue
		}
		all = append(all, changeOf(o))
	}
	return newSizes(all)
}

func changeOf(o *op) sizeChange {
	c := sizeChange{size: o.size, process: o.process, event: o.invoke, call: o.call, ret: forever}
	if o.ok() {
		c.ret, c.by = o.ret, o.token.Zxid
	}
	return c
}

// firstSize is the size that a lock has when the history begins.
func (t *trace) firstSize(lock string) sizeChange {
	return sizeChange{size: t.header.Locks[lock].Size, event: -1, call: -1, ret: -1}
}

func newSizes(all []sizeChange) *sizes {
	slices.SortFunc(all, func(a, b sizeChange) int { return cmp.Or(cmp.Compare(a.call, b.call), a.event-b.event) })
	s := &sizes{all: all, exact: true, changed: forever}
	if len(all) > 1 {
		s.changed = all[1].call
	}
	first := make([]time.Duration, len(all)+1) // the first return of those from i on
	first[len(all)] = forever
	for i, c := range slices.Backward(all) {
		first[i] = min(first[i+1], c.ret)
	}
	var instants []time.Duration
	latest := time.Duration(-1)
	for i := range all {
		c := &all[i]
		next := sort.Search(len(all), func(j int) bool { return all[j].call > c.ret })
		c.until = first[next]
		s.exact = s.exact && (i == 0 || latest < c.call)
		latest = max(latest, c.ret)
		s.returned = append(s.returned, latest)
		instants = append(instants, c.call, c.until)
	}
	slices.Sort(instants)
	var open []sizeChange
	for _, now := range slices.Compact(instants) {
		for ; len(all) > 0 && all[0].call == now; all = all[1:] {
			open = append(open, all[0])
		}
		at := largest(open)
		open = slices.DeleteFunc(open, func(c sizeChange) bool { return c.until == now })
		s.steps = append(s.steps, sizeStep{now, at, largest(open)})
	}
	return s
}

func largest(open []sizeChange) int {
	n := 0
	for _, c := range open {
		n = max(n, c.size)
	}
	return n
}

// most returns what the size can have been at most at an instant.
func (s *sizes) most(at time.Duration) int {
	i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].time > at }) - 1
	if s.steps[i].time == at {
		return s.steps[i].at
	}
	return s.steps[i].then
}

// mostIn returns what the size can have been at most in [from, to].
func (s *sizes) mostIn(from, to time.Duration) int {
	n := s.most(from)
	for i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].time >= from }); i < len(s.steps) && s.steps[i].time <= to; i++ {
		n = max(n, s.steps[i].at)
	}
	return n
}

// drop returns the last instant in [from, to) after which the size is less, and
// whether there is one.
func (s *sizes) drop(from, to time.Duration) (time.Duration, bool) {
	for i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].time >= to }) - 1; i >= 0 && s.steps[i].time >= from; i-- {
		if s.steps[i].then < s.steps[i].at {
			return s.steps[i].time, true
		}
	}
	return 0, false
}

// settled returns the size right after an instant, and when the last change
// before it returned, if no change is open then and only one can be in force.
func (s *sizes) settled(at time.Duration) (size int, since time.Duration, ok bool) {
	i := sort.Search(len(s.all), func(i int) bool { return s.all[i].call > at }) - 1
	last := s.all[i]
	if s.returned[i] > at || i > 0 && s.returned[i-1] >= last.call {
		return 0, 0, false
	}
	return last.size, s.returned[i], true
}
