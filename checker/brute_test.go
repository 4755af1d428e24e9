package checker

import (
	"time"
)

// Brute force tries every order. It shares no code with the engines and no model
// with Porcupine, and is the judge of both where there are few operations.

// maxBrute is how many it can take.
const maxBrute = 14

// bruteOp may take effect at an instant in [call, ret]: do says whether it may
// when those in the set done have, and what becomes of x then.
type bruteOp struct {
	call, ret time.Duration
	do        func(done, x int) (int, bool)
}

// anyOrder reports whether some order of ops is allowed, beginning with x. Those
// that never return may never take effect.
func anyOrder(ops []bruteOp, x int) bool {
	type state struct{ done, x int }
	seen := map[state]bool{}
	var from func(s state) bool
	from = func(s state) bool {
		if seen[s] {
			return false
		}
		seen[s] = true
		first := forever
		for i, o := range ops {
			if s.done&(1<<i) == 0 {
				first = min(first, o.ret)
			}
		}
		if first == forever {
			return true
		}
		for i, o := range ops {
			if s.done&(1<<i) != 0 || o.call > first {
				continue
			}
			if x, ok := o.do(s.done, s.x); ok && from(state{s.done | 1<<i, x}) {
				return true
			}
		}
		return false
	}
	return from(state{0, x})
}

// bruteHolds tries holds of a lock. Those of one owner clash, unless they may not.
func bruteHolds(pieces []piece, sizes *sizes, clash func(a, b *hold) bool) []bruteOp {
	var ops []bruteOp
	gives := make([]int, len(pieces))
	for i := range pieces { // the takes are the first
		ops = append(ops, bruteOp{pieces[i].call, pieces[i].from, func(done, x int) (int, bool) {
			sum := pieces[i].hold.permits
			for j := range pieces {
				if j == i || done&(1<<j) == 0 || gives[j] > 0 && done&(1<<gives[j]) != 0 {
					continue
				}
				sum += pieces[j].hold.permits
				if sizes == nil && clash(pieces[j].hold, pieces[i].hold) {
					return 0, false
				}
			}
			return x, sizes == nil || sum <= x
		}})
	}
	for i, p := range pieces {
		if p.to == forever {
			continue
		}
		gives[i] = len(ops)
		ops = append(ops, bruteOp{p.to, max(p.to, p.free), func(done, x int) (int, bool) { return x, done&(1<<i) != 0 }})
	}
	if sizes != nil {
		for _, c := range sizes.all[1:] {
			ops = append(ops, bruteOp{c.call, c.ret, func(_, _ int) (int, bool) { return c.size, true }})
		}
	}
	return ops
}

// bruteQueue tries a queue that one may leave from anywhere.
func bruteQueue(queue []*contender) []bruteOp {
	var ops []bruteOp
	n := len(queue)
	has := func(done, i int) bool { return done&(1<<i) != 0 }
	for i, q := range queue { // n entries
		ops = append(ops, bruteOp{q.enter, q.place.time, func(done, x int) (int, bool) {
			return x, done&(1<<i-1) == 1<<i-1
		}})
	}
	for i, q := range queue { // n departures
		ops = append(ops, bruteOp{q.stays, forever, func(done, x int) (int, bool) {
			return x, has(done, i) && (!q.granted || has(x, i))
		}})
	}
	for i, q := range queue {
		if !q.granted {
			continue
		}
		ops = append(ops, bruteOp{q.enter, q.op.ret, func(done, x int) (int, bool) {
			ahead := 1<<i - 1
			return x | 1<<i, has(done, i) && !has(done, n+i) && done>>n&ahead == ahead
		}})
	}
	return ops
}

// bruteBarrier tries a barrier: x is 1 while it is up.
func bruteBarrier(x *crossing) []bruteOp {
	var ops []bruteOp
	for _, o := range x.sets {
		ops = append(ops, bruteOp{o.call, o.ret, func(_, _ int) (int, bool) { return 1, true }})
	}
	for _, o := range x.removes {
		ops = append(ops, bruteOp{o.call, until(o), func(_, _ int) (int, bool) { return 0, true }})
	}
	for _, o := range x.waits {
		ops = append(ops, bruteOp{o.call, o.ret, func(_, up int) (int, bool) { return up, up == 0 }})
	}
	return ops
}
