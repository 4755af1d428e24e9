package holding

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/collection"
)

// Sizes holds the sizes of a semaphore in the course of time.
type Sizes struct {
	All []SizeChange // by call; the first is the size that the run began with
	// Exact is false when two changes overlap. A change that was never answered overlaps all
	// after it. Then the order of the changes is not known, and most is only an upper bound.
	Exact bool
	steps []sizeStep // by time
	// changed is the call of the first change ever, including those dropped from All.
	changed time.Duration
	// returned[i] is when the last of the first i+1 changes returned.
	returned []time.Duration
}

// SizeChange is one change of the size. It can be in force in [Call, Until]: Until is the first
// return of a change that was called after this one had returned.
type SizeChange struct {
	Size             int
	Process, event   int // the process that made it, and the index of its invocation
	Call, Ret, Until time.Duration
	by               int64 // the transaction that made it, if that is known; otherwise 0
}

// sizeStep holds the largest possible size at an instant, and right after it.
type sizeStep struct {
	time     time.Duration
	at, then int
}

// SizesOf returns the sizes of a lock. A change that failed had no effect. A change that was
// not answered may take effect at any time, or never.
func SizesOf(t *facts.Trace, lock string) *Sizes {
	all := []SizeChange{firstSize(t, lock)}
	for _, o := range t.Ops {
		if o.Kind != histories.SetSize || o.Lock != lock || o.Result == histories.Fail {
			continue
		}
		all = append(all, changeOf(o))
	}
	return newSizes(all)
}

func changeOf(o *facts.Op) SizeChange {
	c := SizeChange{Size: o.Size, Process: o.Process, event: o.Invoke, Call: o.Call, Ret: facts.Forever}
	if o.OK() {
		c.Ret, c.by = o.Ret, o.Token.Zxid
	}
	return c
}

// firstSize returns the size of a lock when the history begins.
func firstSize(t *facts.Trace, lock string) SizeChange {
	return SizeChange{Size: t.Header.Locks[lock].Size, event: -1, Call: -1, Ret: -1}
}

func newSizes(all []SizeChange) *Sizes {
	slices.SortFunc(all, func(a, b SizeChange) int { return cmp.Or(cmp.Compare(a.Call, b.Call), a.event-b.event) })
	s := &Sizes{All: all, Exact: true, changed: facts.Forever}
	if len(all) > 1 {
		s.changed = all[1].Call
	}
	first := make([]time.Duration, len(all)+1) // the first return of the changes from i on
	first[len(all)] = facts.Forever
	for i, c := range slices.Backward(all) {
		first[i] = min(first[i+1], c.Ret)
	}
	var instants []time.Duration
	latest := time.Duration(-1)
	for i := range all {
		c := &all[i]
		next := sort.Search(len(all), func(j int) bool { return all[j].Call > c.Ret })
		c.Until = first[next]
		s.Exact = s.Exact && (i == 0 || latest < c.Call)
		latest = max(latest, c.Ret)
		s.returned = append(s.returned, latest)
		instants = append(instants, c.Call, c.Until)
	}
	slices.Sort(instants)
	var open collection.Heap[SizeChange]
	for _, now := range slices.Compact(instants) {
		for ; len(all) > 0 && all[0].Call == now; all = all[1:] {
			open.Push(all[0])
		}
		at := largest(&open, now-1)
		s.steps = append(s.steps, sizeStep{now, at, largest(&open, now)})
	}
	return s
}

// Before orders changes, the largest size first.
func (c SizeChange) Before(d SizeChange) bool { return c.Size > d.Size }

// largest drops the changes that are not in force after a time.
func largest(b *collection.Heap[SizeChange], after time.Duration) int {
	for len(*b) > 0 && (*b)[0].Until <= after {
		b.Pop()
	}
	if len(*b) == 0 {
		return 0
	}
	return max((*b)[0].Size, 0)
}

// most returns the largest size that is possible at an instant.
func (s *Sizes) most(at time.Duration) int {
	i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].time > at }) - 1
	if s.steps[i].time == at {
		return s.steps[i].at
	}
	return s.steps[i].then
}

// mostIn returns the largest size that is possible in [from, to].
func (s *Sizes) mostIn(from, to time.Duration) int {
	n := s.most(from)
	for i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].time >= from }); i < len(s.steps) && s.steps[i].time <= to; i++ {
		n = max(n, s.steps[i].at)
	}
	return n
}

// drop returns the last instant in [from, to) after which the largest possible size is smaller,
// and whether there is one.
func (s *Sizes) drop(from, to time.Duration) (time.Duration, bool) {
	for i := sort.Search(len(s.steps), func(i int) bool { return s.steps[i].time >= to }) - 1; i >= 0 && s.steps[i].time >= from; i-- {
		if s.steps[i].then < s.steps[i].at {
			return s.steps[i].time, true
		}
	}
	return 0, false
}

// settled returns the size right after an instant, and when the last change before it returned,
// if no change is open then and only one can be in force.
func (s *Sizes) settled(at time.Duration) (size int, since time.Duration, ok bool) {
	i := sort.Search(len(s.All), func(i int) bool { return s.All[i].Call > at }) - 1
	last := s.All[i]
	if s.returned[i] > at || i > 0 && s.returned[i-1] >= last.Call {
		return 0, 0, false
	}
	return last.Size, s.returned[i], true
}
