package queue

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
)

// room knows from when on a semaphore had room for the first contender in its queue.
//
// Nobody but the first takes permits. So while it waits the permits that are out can only
// become fewer, and from some time on there is room for it, unless the size is lowered. Of
// the sizes that can have been in force at any time from then on the least counts.
type room struct {
	t     *facts.Trace
	way   *inTheWay
	sizes map[string][]size // by lock
}

// size is one of a semaphore that can be in force.
type size struct {
	permits int
	set     *facts.Op     // nil for the size that the run began with
	until   time.Duration // another one has certainly replaced it by then; forever if none has
}

// taken is what a contender was granted, and until when it may not have been given back.
type taken struct {
	by    *facts.Hold
	until time.Duration
}

func (r *room) invoked(o *facts.Op) {
	if o.Kind == histories.SetSize {
		r.sizes[o.Lock] = append(r.sizesOf(o.Lock), size{o.Size, o, facts.Forever})
	}
}

func (r *room) sizesOf(lock string) []size {
	if all := r.sizes[lock]; all != nil {
		return all
	}
	return []size{{r.t.Header.Locks[lock].Size, nil, facts.Forever}}
}

// completed takes in that a change of a size was answered. It has replaced all that were over
// when it was called. One that was not answered may be carried out late, see inTheWay.
func (r *room) completed(o *facts.Op) {
	if o.Kind != histories.SetSize {
		return
	}
	all := r.sizes[o.Lock]
	switch {
	case o.Result == histories.Fail:
		all = slices.DeleteFunc(all, func(s size) bool { return s.set == o })
	case o.OK():
		for i, s := range all {
			if s.set == nil || s.set != o && r.way.until(s.set) < o.Call {
				all[i].until = min(s.until, o.Ret)
			}
		}
	}
	r.sizes[o.Lock] = all
}

// forget drops the sizes that were replaced before a time.
func (r *room) forget(lock string, before time.Duration) {
	if all := r.sizes[lock]; all != nil {
		r.sizes[lock] = slices.DeleteFunc(all, func(s size) bool { return s.until < before })
	}
}

// since returns the first time from on from which there was room for o, and whose permits made
// it by being given back, if it was somebody's. The time is forever if that is not known.
func (r *room) since(o *facts.Op, from time.Duration, out []taken) (at time.Duration, gave *facts.Hold) {
	sizes := r.sizesOf(o.Lock)
	ends := []taken{{nil, from}}
	for _, s := range sizes {
		ends = append(ends, taken{nil, max(from, s.until)})
	}
	for _, p := range out {
		ends = append(ends, taken{p.by, max(from, p.until)})
	}
	slices.SortStableFunc(ends, func(a, b taken) int { return cmp.Compare(a.until, b.until) })
	// What is free at a time, and as long as no permits are taken: the least of the sizes that
	// are not replaced by then, but for the permits that are not given back.
	sizes, out = slices.Clone(sizes), slices.Clone(out)
	slices.SortFunc(sizes, func(a, b size) int { return cmp.Compare(b.until, a.until) })
	slices.SortFunc(out, func(a, b taken) int { return cmp.Compare(b.until, a.until) })
	at, by := facts.Forever, (*facts.Hold)(nil)
	size, held := math.MaxInt, 0
	for _, end := range slices.Backward(ends) {
		for ; len(sizes) > 0 && sizes[0].until > end.until; sizes = sizes[1:] {
			size = min(size, sizes[0].permits)
		}
		for ; len(out) > 0 && out[0].until > end.until; out = out[1:] {
			held += out[0].by.Permits
		}
		if end.until < facts.Forever && size-held >= o.Permits {
			at, by = end.until, end.by // an earlier one counts more
		}
	}
	return at, by
}
