package client

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

// leaseOf identifies a lease of a process.
type leaseOf struct {
	facts.LeaseKey
	process int
}

// told finds the records of a lease in one window without visiting those of other leases.
type told struct {
	notices map[leaseOf][]time.Duration // when the process was told, in order
	granted map[leaseOf]time.Duration   // the call of the first acquire that was granted the lease
	first   map[facts.LeaseKey][]*facts.Op
	// failed holds the acquires of a process that failed or were never answered, in order.
	failed map[facts.LockUse][]*facts.Op
}

func newTold(notices []facts.ReleaseNotice, acquires []*facts.Op) *told {
	x := &told{
		notices: map[leaseOf][]time.Duration{}, granted: map[leaseOf]time.Duration{},
		first: map[facts.LeaseKey][]*facts.Op{}, failed: map[facts.LockUse][]*facts.Op{},
	}
	for _, e := range notices {
		k := leaseOf{facts.LeaseKey{Lock: e.Lock, Token: e.Token}, e.Process}
		x.notices[k] = append(x.notices[k], e.Time)
	}
	for _, o := range acquires {
		if !o.OK() {
			k := facts.LockUse{Process: o.Process, Lock: o.Lock}
			x.failed[k] = append(x.failed[k], o)
			continue
		}
		k := leaseOf{facts.LeaseKey{Lock: o.Lock, Token: o.Token}, o.Process}
		first, seen := x.granted[k]
		if !seen || o.Call < first {
			x.granted[k] = o.Call
		}
		if !seen {
			x.first[k.LeaseKey] = append(x.first[k.LeaseKey], o)
		}
	}
	for _, all := range x.failed {
		slices.SortFunc(all, func(a, b *facts.Op) int { return a.Invoke - b.Invoke })
	}
	return x
}

// had reports whether the process that is told may have the lease: it had invoked an acquire
// that was granted this token, or one that later failed or was never answered. A process has
// one operation under way at a time.
func (x *told) had(e facts.ReleaseNotice) bool {
	if call, ok := x.granted[leaseOf{facts.LeaseKey{Lock: e.Lock, Token: e.Token}, e.Process}]; ok && call <= e.Time {
		return true
	}
	failed := x.failed[facts.LockUse{Process: e.Process, Lock: e.Lock}]
	after, _ := slices.BinarySearchFunc(failed, e.Time, func(o *facts.Op, at time.Duration) int {
		if o.Call <= at {
			return -1
		}
		return 1
	})
	return after > 0 && failed[after-1].Ret >= e.Time
}

// in returns when the holder was first told in [from, to].
func (x *told) in(h *facts.Hold, from, to time.Duration) (time.Duration, bool) {
	all := x.notices[leaseOf{facts.LeaseKey{Lock: h.Lock, Token: h.Token}, h.Process}]
	i, _ := slices.BinarySearch(all, from)
	if i == len(all) || all[i] > to {
		return 0, false
	}
	return all[i], true
}

// losses finds the leases that were lost without a request to release them.
type losses struct {
	byEnd []*facts.Hold
	next  []int // for each, the first from it on without a known request
	of    map[facts.LeaseKey][]int
}

func newLosses(all []*facts.Hold, asked func(h *facts.Hold) bool) *losses {
	x := &losses{of: map[facts.LeaseKey][]int{}}
	for _, h := range all {
		if !asked(h) {
			x.byEnd = append(x.byEnd, h)
		}
	}
	slices.SortFunc(x.byEnd, func(a, b *facts.Hold) int { return cmp.Compare(a.End, b.End) })
	for i, h := range x.byEnd {
		k := facts.LeaseKey{Lock: h.Lock, Token: h.Token}
		x.next, x.of[k] = append(x.next, i), append(x.of[k], i)
	}
	x.next = append(x.next, len(x.byEnd))
	return x
}

// asked records that there was a request for a lease, at any time.
func (x *losses) asked(k facts.LeaseKey) {
	for _, i := range x.of[k] {
		x.next[i] = i + 1
	}
	delete(x.of, k)
}

// in reports whether such a lease was lost in [from, to].
func (x *losses) in(from, to time.Duration) bool {
	i, _ := slices.BinarySearchFunc(x.byEnd, from, func(h *facts.Hold, from time.Duration) int { return cmp.Compare(h.End, from) })
	first := i
	for x.next[first] != first {
		first = x.next[first]
	}
	for x.next[i] != i { // so that the next lookup finds it at once
		i, x.next[i] = x.next[i], first
	}
	return first < len(x.byEnd) && x.byEnd[first].End <= to
}
