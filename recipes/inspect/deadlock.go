package inspect

import (
	"maps"
	"slices"
)

// waits holds the sessions for which each session waits, with one reason for each.
type waits map[int64]map[int64]reason

// reason is a lock that one session holds and another waits for.
type reason struct {
	lock           *Lock
	holder, waiter *Contender
}

// deadlocks finds sessions that wait for each other in a circle. It returns one circle, the
// shortest, of each set of sessions that cannot go on. A session that waits for itself is
// no deadlock: it has several owners, which the servers do not know.
func deadlocks(locks []Lock) (found []Finding) {
	graph := make(waits)
	for i := range locks {
		l := &locks[i]
		holders, waiters := l.Holders(), l.Waiters()
		for _, h := range holders {
			for _, w := range waiters {
				if h.Session != 0 && w.Session != 0 && h.Session != w.Session && l.Blocks(h, w) {
					graph.add(w.Session, h.Session, reason{l, h, w})
				}
			}
		}
	}
	for _, knot := range graph.knots() {
		found = append(found, graph.finding(graph.shortest(knot)))
	}
	return found
}

func (g waits) add(from, to int64, r reason) {
	if g[from] == nil {
		g[from] = make(map[int64]reason)
	}
	// Keep the wait that has lasted longest: it does not end by itself.
	if known, is := g[from][to]; !is || r.waiter.Token.Compare(known.waiter.Token) < 0 {
		g[from][to] = r
	}
}

// knots returns the sets of sessions in which each session waits for each other one,
// directly or through others (strongly connected components, Tarjan).
func (g waits) knots() (all [][]int64) {
	index, low := make(map[int64]int), make(map[int64]int)
	var stack []int64
	on := make(map[int64]bool)
	var visit func(s int64)
	visit = func(s int64) {
		index[s] = len(index) + 1
		low[s] = index[s]
		stack, on[s] = append(stack, s), true
		for _, to := range slices.Sorted(maps.Keys(g[s])) {
			if index[to] == 0 {
				visit(to)
				low[s] = min(low[s], low[to])
			} else if on[to] {
				low[s] = min(low[s], index[to])
			}
		}
		if low[s] != index[s] {
			return
		}
		i := slices.Index(stack, s)
		knot := slices.Clone(stack[i:])
		stack = stack[:i]
		for _, member := range knot {
			on[member] = false
		}
		if len(knot) > 1 {
			slices.Sort(knot)
			all = append(all, knot)
		}
	}
	for _, s := range slices.Sorted(maps.Keys(g)) {
		if index[s] == 0 {
			visit(s)
		}
	}
	return all
}

// shortest returns the shortest circle through the first session of a knot.
func (g waits) shortest(knot []int64) []int64 {
	first := knot[0]
	came := map[int64]int64{}
	for next := []int64{first}; ; {
		s := next[0]
		next = next[1:]
		for _, to := range slices.Sorted(maps.Keys(g[s])) {
			if to == first {
				circle := []int64{s}
				for s != first {
					s = came[s]
					circle = append(circle, s)
				}
				slices.Reverse(circle)
				return circle
			}
			if _, seen := came[to]; !seen && slices.Contains(knot, to) {
				came[to] = s
				next = append(next, to)
			}
		}
	}
}

// finding describes a circle: each session holds the lock for which the session before it
// waits.
func (g waits) finding(circle []int64) Finding {
	f := Finding{Problem: Deadlock}
	for i, s := range circle {
		before, after := circle[(i+len(circle)-1)%len(circle)], circle[(i+1)%len(circle)]
		holds, waits := g[before][s], g[s][after]
		f.Cycle = append(f.Cycle, Wait{Session: s, Holds: holds.lock.Path, Waits: waits.lock.Path, Holder: holds.holder, Waiter: waits.waiter})
		f.Locks = append(f.Locks, holds.lock.Path)
		f.Nodes = append(f.Nodes, holds.holder.Path, waits.waiter.Path)
	}
	slices.Sort(f.Nodes)
	slices.Sort(f.Locks)
	f.Locks = slices.Compact(f.Locks)
	return f
}
