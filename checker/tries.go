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
func (t *trace) triesInVain(from time.Duration) []Witness {
	type tries struct {
		first, last time.Duration
		n           int
		got         bool
		party       Party
	}
	all := map[procKey]*tries{}
	for _, o := range t.recent {
		if o.kind != histories.TryAcquire || o.call < from || o.depth > 1 {
			continue
		}
		k := procKey{o.process, o.lock, o.mode}
		if all[k] == nil {
			all[k] = &tries{first: o.call, party: o.party()}
		}
		a := all[k]
		a.n++
		a.last = max(a.last, min(o.ret, t.end))
		a.got = a.got || o.ok()
	}
	lifetime := t.lifetime()
	var found []Witness
	for k, a := range all {
		if a.got || a.last-a.first <= lifetime || t.othersAbout(k.process, k.lock, a.first, a.last, lifetime) {
			continue
		}
		w := t.newWitness(k.lock, a.first, a.last, a.party)
		w.What = fmt.Sprintf("process %d tried lock %q %d times between %s and %s, when nobody else held or wanted it, and never got it", k.process, k.lock, a.n, at(a.first), at(a.last))
		found = append(found, w)
	}
	slices.SortFunc(found, func(a, b Witness) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Lock, b.Lock))
	})
	return found
}

// lifetime is how long a session can live on without its client.
func (t *trace) lifetime() time.Duration { return max(t.header.SessionTimeout, time.Second) }

// keepRecent keeps the acquires of the window on record that othersAbout, and
// progress, may ask for: all since the recovery began, and before it those that
// may be in the way of somebody then.
func (t *trace) keepRecent() {
	for _, o := range t.ops {
		if (o.acquires() || o.passes()) && (t.settled(o)) {
			t.recent = append(t.recent, recentOp{o, o.left()})
		}
	}
	if t.last || len(t.recent) < 2*t.kept+1000 {
		return
	}
	start, recovering := t.phases[histories.PhaseRecovery]
	if !recovering {
		start = t.end
	}
	before := start - 2*t.lifetime()
	keep := t.recent[:0]
	for _, o := range t.recent {
		if o.left == forever {
			o.left = o.op.left() // it may be over by now
		}
		if o.left >= before {
			keep = append(keep, o)
		}
	}
	clear(t.recent[len(keep):])
	t.recent, t.kept = keep, len(keep)
}

// recentOp is an acquire, and until when it may have been in somebody's way:
// forever while that is not known.
type recentOp struct {
	*op
	left time.Duration
}

func (o *op) left() time.Duration {
	switch {
	case o.hold != nil:
		return max(o.hold.end, o.hold.released)
	case o.gone:
		return o.by.retired
	}
	return o.ret
}

// othersAbout reports whether another process may have been in the way of all
// tries in [first, last]. One that gave the lock back before is not. One that
// failed, crashed or lost the lock may leave a node behind, for as long as a
// session can live, and then some.
func (t *trace) othersAbout(process int, lock string, first, last, lifetime time.Duration) bool {
	for _, o := range t.recent {
		if o.process == process || o.lock != lock || !o.acquires() || o.call > last {
			continue
		}
		left := o.ret
		if o.hold != nil {
			if o.hold.released != forever && t.livedOn(o.hold) {
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
