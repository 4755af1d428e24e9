package queue

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/collection"
)

// room determines when a semaphore first had room for the first contender in its queue.
//
// Only the first contender takes permits. So while it waits, the permits that are out can only
// become fewer, and from some time on there is room for it, unless the size is lowered. The
// least of the sizes that can have been in force at any time from then on counts.
type room struct {
	t     *facts.Trace
	way   *inTheWay
	sizes facts.PerLock[sizes] // of semaphores whose size was changed
}

// sizes are the sizes of one semaphore.
type sizes struct {
	open     map[*facts.Op]*size    // that have not been answered yet
	answered []*size                // ok, in order of answer, and not known to be replaced
	unsure   []*size                // that will never be answered, in the order in which that became known
	late     []*size                // those moved from unsure, which faults may delay
	inForce  collection.Heap[*size] // all that are not known to be replaced, and some that are
	replaced []size                 // by until; each has more permits than those before it
	ends     []time.Duration        // when each was replaced, in order
}

// size is one size of a semaphore that can be in force.
type size struct {
	permits int
	set     *facts.Op     // nil for the size that the run began with
	until   time.Duration // another size has certainly replaced it by then; forever if none has
}

// Before orders sizes, the fewest permits first.
func (s *size) Before(o *size) bool { return s.permits < o.permits }

// taken is a hold, and the time until which its permits may be out.
type taken struct {
	by    *facts.Hold
	until time.Duration
}

func (r *room) invoked(o *facts.Op) {
	if o.Kind != histories.SetSize {
		return
	}
	all := r.sizes.Make(o.Info(), func() *sizes {
		first := &size{r.t.Header.Locks[o.Lock].Size, nil, facts.Forever}
		return &sizes{open: map[*facts.Op]*size{}, answered: []*size{first}, inForce: collection.Heap[*size]{first}}
	})
	s := &size{o.Size, o, facts.Forever}
	all.open[o] = s
	all.inForce.Push(s)
}

// crashed records that a change of a size will not be answered.
func (r *room) crashed(o *facts.Op) {
	if o.Kind == histories.SetSize {
		r.sizes.Of(o.Info()).gone(o)
	}
}

func (x *sizes) gone(o *facts.Op) {
	x.unsure = append(x.unsure, x.open[o])
	delete(x.open, o)
}

// completed records that a change of a size was answered. It has replaced all changes that were
// over when it was called. A change that was not answered may be carried out late, see
// inTheWay.
func (r *room) completed(o *facts.Op) {
	if o.Kind != histories.SetSize {
		return
	}
	all := r.sizes.Of(o.Info())
	switch {
	case o.Result == histories.Fail:
		all.open[o].until = -1 // it was never in force
		delete(all.open, o)
	case o.OK():
		r.replace(all, o)
		all.answered = append(all.answered, all.open[o])
		delete(all.open, o)
	default:
		all.gone(o)
	}
}

// replace records the changes that o has replaced.
func (r *room) replace(all *sizes, o *facts.Op) {
	for len(all.answered) > 0 && (all.answered[0].set == nil || all.answered[0].set.Ret < o.Call) {
		all.replaces(all.answered[0], o.Ret)
		all.answered = all.answered[1:]
	}
	while := 3 * r.t.Lifetime()
	for len(all.unsure) > 0 && facts.After(all.unsure[0].set.By.Retired, while) < o.Call {
		all.late, all.unsure = append(all.late, all.unsure[0]), all.unsure[1:]
	}
	all.late = slices.DeleteFunc(all.late, func(s *size) bool {
		if r.way.until(s.set) >= o.Call {
			return false
		}
		all.replaces(s, o.Ret)
		return true
	})
}

func (x *sizes) replaces(s *size, at time.Duration) {
	s.until = at
	x.ends = append(x.ends, at)
	for n := len(x.replaced); n > 0 && x.replaced[n-1].permits >= s.permits; n-- {
		x.replaced = x.replaced[:n-1]
	}
	x.replaced = append(x.replaced, *s)
}

// forget drops the sizes that were replaced before a time.
func (r *room) forget(lock *facts.LockInfo, before time.Duration) {
	if x := r.sizes.Of(lock); x != nil {
		x.replaced = slices.Clone(x.after(before - 1))
		i, _ := slices.BinarySearch(x.ends, before)
		x.ends = slices.Clone(x.ends[i:])
	}
}

// after returns those sizes replaced after a time that are less than all sizes replaced later.
func (x *sizes) after(at time.Duration) []size {
	return x.replaced[sort.Search(len(x.replaced), func(i int) bool { return x.replaced[i].until > at }):]
}

// least returns the least size that can have been in force at a time or later.
func (x *sizes) least(at time.Duration) int {
	for len(x.inForce) > 0 && x.inForce[0].until != facts.Forever {
		x.inForce.Pop()
	}
	n := math.MaxInt
	if len(x.inForce) > 0 {
		n = x.inForce[0].permits
	}
	if later := x.after(at); len(later) > 0 {
		n = min(n, later[0].permits)
	}
	return n
}

// of returns the sizes of the semaphore that o asks.
func (r *room) of(o *facts.Op) *sizes {
	if x := r.sizes.Of(o.Info()); x != nil {
		return x
	}
	return &sizes{replaced: []size{{r.t.Header.Locks[o.Lock].Size, nil, facts.Forever}}}
}

// since returns the first time, not before from, at which there was room for o, and the hold
// whose release made the room, if one did. The time is forever if it is not known. held is the
// number of permits held, beside those in out, whose times are known.
func (r *room) since(o *facts.Op, from time.Duration, out []taken, held int) (at time.Duration, gave *facts.Hold) {
	x := r.of(o)
	slices.SortFunc(out, func(a, b taken) int {
		return cmp.Or(cmp.Compare(a.until, b.until), a.by.Acquire.Invoke-b.by.Acquire.Invoke)
	})
	sums := make([]int, len(out)+1) // the permits of those from i on
	for i, p := range slices.Backward(out) {
		sums[i] = sums[i+1] + p.by.Permits
	}
	// Later there is at least as much room: no permits are taken meanwhile.
	fits := func(at time.Duration) bool {
		i := sort.Search(len(out), func(i int) bool { return out[i].until > at })
		return at < facts.Forever && x.least(at)-sums[i]-held >= o.Permits
	}
	if fits(from) {
		return from, nil
	}
	at = facts.Forever
	sizes := x.after(from)
	if i := sort.Search(len(sizes), func(i int) bool { return fits(sizes[i].until) }); i < len(sizes) {
		at = sizes[i].until
	}
	known := sort.Search(len(out), func(i int) bool { return out[i].until == facts.Forever })
	i := sort.Search(known, func(i int) bool { return out[i].until > from && fits(out[i].until) })
	if i == known || out[i].until > at {
		return at, nil
	}
	if at = out[i].until; replacedAt(x.ends, at) {
		return at, nil
	}
	return at, out[i].by
}

func replacedAt(ends []time.Duration, at time.Duration) bool {
	_, found := slices.BinarySearch(ends, at)
	return found
}
