package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// triesInVain finds the locks that a process tried again and again from from
// on, while no other process held or wanted them, and never got.
//
// A single try may fail although the lock is free: the node of a contender that
// gave up is deleted in the background, and until then it is ahead. So only
// tries that go on for longer than a session can live count.
func (r *recentAcquires) triesInVain(from time.Duration) []Witness {
	type tries struct {
		first, last time.Duration
		n           int
		got         bool
		party       Party
	}
	all := map[lockUse]*tries{}
	for _, o := range r.all {
		if o.kind != histories.TryAcquire || o.call < from || o.depth > 1 {
			continue
		}
		k := lockUse{o.process, o.lock, o.mode}
		if all[k] == nil {
			all[k] = &tries{first: o.call, party: o.party()}
		}
		a := all[k]
		a.n++
		a.last = max(a.last, min(o.ret, r.t.end))
		a.got = a.got || o.ok()
	}
	lifetime := r.t.lifetime()
	var found []Witness
	for k, a := range all {
		if a.got || a.last-a.first <= lifetime || r.othersAbout(k.process, k.lock, a.first, a.last, lifetime) {
			continue
		}
		w := r.t.newWitness(k.lock, a.first, a.last, a.party)
		w.What = fmt.Sprintf("process %d tried lock %q %d times between %s and %s, when nobody else held or wanted it, and never got it", k.process, k.lock, a.n, at(a.first), at(a.last))
		found = append(found, w)
	}
	slices.SortFunc(found, func(a, b Witness) int {
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
		if o.process == process || o.lock != lock || !o.acquires() || o.call > last {
			continue
		}
		left := o.ret
		if o.hold != nil {
			if o.hold.released != forever && r.t.sessions.livedOn(o.hold) {
				if o.hold.released >= first {
					return true
				}
				continue
			}
			if left = o.hold.end; o.hold.released != forever {
				left = o.hold.released
			}
		}
		if left >= last-2*lifetime {
			return true
		}
	}
	return false
}
