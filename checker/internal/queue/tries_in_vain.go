package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/witness"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// triesInVain finds the locks that a process tried again and again from from
// on, while no other process held or wanted them, and never got.
//
// A single try may fail although the lock is free: the node of a contender that
// gave up is deleted in the background, and until then it is ahead. So only
// tries that go on for longer than a session can live count.
func (r *recentAcquires) triesInVain(from time.Duration) []verdict.Witness {
	type tries struct {
		first, last time.Duration
		n           int
		got         bool
		party       verdict.Party
	}
	all := map[facts.LockUse]*tries{}
	for _, o := range r.all {
		if o.Kind != histories.TryAcquire || o.Call < from || o.Depth > 1 {
			continue
		}
		k := facts.LockUse{Process: o.Process, Lock: o.Lock, Mode: o.Mode}
		if all[k] == nil {
			all[k] = &tries{first: o.Call, party: witness.OfOp(o.Op)}
		}
		a := all[k]
		a.n++
		a.last = max(a.last, min(o.Ret, r.t.End))
		a.got = a.got || o.OK()
	}
	lifetime := r.t.Lifetime()
	var found []verdict.Witness
	for k, a := range all {
		if a.got || a.last-a.first <= lifetime || r.othersAbout(k.Process, k.Lock, a.first, a.last, lifetime) {
			continue
		}
		w := witness.New(r.t, k.Lock, a.first, a.last, a.party)
		w.What = fmt.Sprintf("process %d tried lock %q %d times between %s and %s, when nobody else held or wanted it, and never got it", k.Process, k.Lock, a.n, verdict.At(a.first), verdict.At(a.last))
		found = append(found, w)
	}
	slices.SortFunc(found, func(a, b verdict.Witness) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Lock, b.Lock))
	})
	return found
}

// othersAbout reports whether another process may have been in the way of all
// tries in [first, last]. One that gave the lock back before is not. One that
// failed, crashed or lost the lock may leave a node behind, for as long as a
// session can live, and then some.
func (r *recentAcquires) othersAbout(process int, lock string, first, last, lifetime time.Duration) bool {
	for _, o := range r.all {
		if o.Process == process || o.Lock != lock || !o.Acquires() || o.Call > last {
			continue
		}
		left := o.Ret
		if o.Hold != nil {
			if o.Hold.Released != facts.Forever && r.t.Sessions.LivedOn(o.Hold) {
				if o.Hold.Released >= first {
					return true
				}
				continue
			}
			if left = o.Hold.End; o.Hold.Released != facts.Forever {
				left = o.Hold.Released
			}
		}
		if left >= last-2*lifetime {
			return true
		}
	}
	return false
}
