package queue

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// triesInVain finds the locks that a process tried repeatedly after from, while no other
// process held or wanted them, and never got.
//
// A single try may fail although the lock is free: the node of a contender that gave up is
// deleted in the background, and until then it is ahead. So tries count only if they go on for
// longer than a session can live.
func (r *recentAcquires) triesInVain(from time.Duration) []verdict.Witness {
	type tries struct {
		first, last time.Duration
		n           int
		got         bool
		party       verdict.Party
		lock        *facts.LockInfo
	}
	all := map[facts.LockUse]*tries{}
	for _, o := range r.all {
		if o.Kind != histories.TryAcquire || o.Call < from || o.Depth > 1 {
			continue
		}
		k := facts.LockUse{Process: o.Process, Lock: o.Lock, Mode: o.Mode}
		if all[k] == nil {
			all[k] = &tries{first: o.Call, party: judge.OpParty(o.Op), lock: o.Info()}
		}
		a := all[k]
		a.n++
		a.last = max(a.last, min(o.Ret, r.t.End))
		a.got = a.got || o.OK()
	}
	lifetime := r.t.Lifetime()
	var found []verdict.Witness
	others := r.othersOf()
	for k, a := range all {
		if a.got || a.last-a.first <= lifetime || others[a.lock].about(k.Process, a.first, a.last, lifetime) {
			continue
		}
		w := judge.NewWitness(r.t, k.Lock, a.first, a.last, a.party)
		w.What = fmt.Sprintf("%s tried lock %q %d times between %s and %s, when no other process held or wanted it, and never got it", r.t.Header.Name(k.Process), k.Lock, a.n, verdict.At(a.first), verdict.At(a.last))
		found = append(found, w)
	}
	slices.SortFunc(found, func(a, b verdict.Witness) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Lock, b.Lock))
	})
	return found
}

// others holds the acquires of one lock, to find those of other processes that may have been in
// the way at a time.
type others struct {
	calls []time.Duration // in order
	// given and left hold the latest times of the first i+1 acquires: of the releases whose
	// sessions lived on, and of the other departures.
	given, left []latest
}

// latest is the latest of some times, and the latest time of another process than that one.
type latest struct {
	process   int
	at, other time.Duration
}

func (l latest) with(process int, at time.Duration) latest {
	switch {
	case process == l.process:
		l.at = max(l.at, at)
	case at > l.at:
		l = latest{process, at, l.at}
	default:
		l.other = max(l.other, at)
	}
	return l
}

// but returns the latest time of a process other than the given one.
func (l latest) but(process int) time.Duration {
	if process == l.process {
		return l.other
	}
	return l.at
}

// othersOf returns the others of each lock.
func (r *recentAcquires) othersOf() map[*facts.LockInfo]*others {
	byLock := map[*facts.LockInfo][]*facts.Op{}
	for _, o := range r.all {
		if o.Acquires() {
			byLock[o.Info()] = append(byLock[o.Info()], o.Op)
		}
	}
	all := make(map[*facts.LockInfo]*others, len(byLock))
	for lock, acquires := range byLock {
		slices.SortStableFunc(acquires, func(a, b *facts.Op) int { return cmp.Compare(a.Call, b.Call) })
		x := &others{}
		never := latest{-1, -facts.Forever, -facts.Forever}
		given, left := never, never
		for _, o := range acquires {
			switch h := o.Hold; {
			case h != nil && h.Released != facts.Forever && r.t.Sessions.LivedOn(h):
				given = given.with(o.Process, h.Released)
			case h != nil && h.Released != facts.Forever:
				left = left.with(o.Process, h.Released)
			case h != nil:
				left = left.with(o.Process, h.End)
			default:
				left = left.with(o.Process, o.Ret)
			}
			x.calls, x.given, x.left = append(x.calls, o.Call), append(x.given, given), append(x.left, left)
		}
		all[lock] = x
	}
	return all
}

// about reports whether another process may have been in the way of all tries in [first, last].
// A process that released the lock before was not. A process that failed, crashed or lost the
// lock may leave a node behind, for somewhat longer than a session can live.
func (x *others) about(process int, first, last, lifetime time.Duration) bool {
	n := sort.Search(len(x.calls), func(i int) bool { return x.calls[i] > last })
	return n > 0 && (x.given[n-1].but(process) >= first || x.left[n-1].but(process) >= last-2*lifetime)
}
