package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Each generation of a double barrier is one round: it begins at an instant at
// which as many members are there as the barrier has, and is over when all who
// entered have gone; rounds follow one another. That no node of an earlier round
// is left when the next one gathers is vouched for by whoever records the
// generations.
//
//   - An enter that returned ok did so after its round had begun. A member is
//     there from the invocation of its enter on. One whose enter failed may have
//     been counted, since its node goes later, but not after its session was
//     seen to end.
//   - A leave that returned ok did so when the round was over. A member that
//     entered is inside until it invokes its leave, crashes, or its session ends.
//   - A round begins when the earlier ones are over.
//
// This needs no search. All of these ask for instants that are not too early, so
// the earliest for each is the best for all: round by round, the first instant at
// which enough members are there, and the first at which all have gone. There are
// instants at all exactly when these are no later than the answers allow.

// round is one generation of one double barrier.
type round struct {
	generation     int
	enters, leaves []*op
	inside         []stay // those who entered
}

// stay is one member inside.
type stay struct {
	enter *op
	until time.Duration // it was certainly inside before
}

// doubleBarriers judges the double barriers. It returns how many members entered
// and how many left.
func (t *trace) doubleBarriers(v *Verdict, locks []string) (entered, left int) {
	alive := t.alive
	all := t.rounds()
	for _, lock := range locks {
		over := time.Duration(0) // when the rounds so far are over at the earliest
		var last *stay           // who went last
		var before *round
		for _, r := range all[lock] {
			begun := t.begins(r, t.header.Locks[lock].Size, over)
			for _, e := range r.enters {
				if e.ok() {
					entered++
					r.inside = append(r.inside, stay{e, t.insideUntil(r, e, alive)})
					if e.ret < begun {
						before, last, over := before, last, over
						v.violate(func() Witness { return t.enteredEarly(e, r, before, last, over) })
					}
				}
			}
			for i := range r.inside {
				if s := &r.inside[i]; s.until > over {
					over, last, before = s.until, s, r
				}
			}
			for _, l := range r.leaves {
				if l.ok() {
					left++
					for i := range r.inside {
						if s := &r.inside[i]; s.until > l.ret {
							v.violate(func() Witness { return t.leftEarly(l, s) })
							break // one witness for each who left
						}
					}
				}
			}
			if first := r.first(); first != nil && begun <= first.ret {
				if begun > over {
					over, last, before = begun, nil, r
				}
			}
		}
	}
	return entered, left
}

// rounds returns those of each double barrier, in their order.
func (t *trace) rounds() map[string][]*round {
	all := map[string][]*round{}
	type key struct {
		lock       string
		generation int
	}
	known := map[key]*round{}
	for _, o := range t.ops {
		if o.kind != histories.Enter && o.kind != histories.Leave {
			continue
		}
		k := key{o.lock, t.events[o.invoke].Generation}
		r := known[k]
		if r == nil {
			r = &round{generation: k.generation}
			known[k], all[o.lock] = r, append(all[o.lock], r)
		}
		if o.kind == histories.Enter {
			r.enters = append(r.enters, o)
		} else {
			r.leaves = append(r.leaves, o)
		}
	}
	for _, rounds := range all {
		slices.SortFunc(rounds, func(a, b *round) int { return a.generation - b.generation })
	}
	return all
}

// first returns the enter that returned first.
func (r *round) first() *op {
	var first *op
	for _, e := range r.enters {
		if e.ok() && (first == nil || e.ret < first.ret) {
			first = e
		}
	}
	return first
}

// begins returns the first instant, not before from, at which size members are
// there, or forever.
func (t *trace) begins(r *round, size int, from time.Duration) time.Duration {
	if t.there(r, from) >= size {
		return from
	}
	for _, e := range r.enters { // by invocation
		if e.call > from && t.there(r, e.call) >= size {
			return e.call
		}
	}
	return forever
}

// there returns how many members may have been there at an instant.
func (t *trace) there(r *round, when time.Duration) int {
	members := map[int]bool{}
	for _, e := range r.enters {
		if e.call > when {
			break
		}
		if e.result == histories.Fail && e.session != "" {
			if ended, ok := t.expired[e.session]; ok && ended < when {
				continue
			}
		}
		members[e.process] = true
	}
	return len(members)
}

// insideUntil returns how long who entered by e was certainly inside.
func (t *trace) insideUntil(r *round, e *op, alive map[string]time.Duration) time.Duration {
	end := forever
	for _, l := range r.leaves {
		if l.process == e.process && l.invoke > e.done {
			end = l.call
			break
		}
	}
	end = min(end, e.by.retired)
	if _, ended := t.expired[e.session]; ended {
		end = min(end, alive[e.session])
	}
	if forced := t.forcedIn(e.process, e.call, end); len(forced) > 0 {
		end = min(end, max(forced[0].from, e.call))
	}
	return end
}

func (t *trace) enteredEarly(e *op, r, before *round, last *stay, over time.Duration) Witness {
	p := e.party()
	size := t.header.Locks[e.lock].Size
	did := fmt.Sprintf("%v entered round %d of barrier %q at %s", p, r.generation, e.lock, at(e.ret))
	inTime := t.begins(r, size, 0) <= e.ret // were there no earlier rounds
	switch {
	case inTime && over > e.ret && last == nil:
		w := t.newWitness(e.lock, e.ret, over, p)
		w.What = fmt.Sprintf("%s, before round %d had begun", did, before.generation)
		return w
	case inTime && over > e.ret:
		q := last.enter.party()
		w := t.newWitness(e.lock, e.ret, over, q, p)
		w.What = fmt.Sprintf("%s, while %v was inside round %d%s", did, q, before.generation, t.stayed(last))
		return w
	}
	w := t.newWitness(e.lock, e.call, e.ret, p)
	most := t.there(r, 0)
	for _, o := range r.enters {
		if o.call <= e.ret {
			most = max(most, t.there(r, o.call))
		}
	}
	w.What = fmt.Sprintf("%s, when %d of its %d members had come", did, most, size)
	return w
}

func (t *trace) leftEarly(l *op, s *stay) Witness {
	p, q := l.party(), s.enter.party()
	generation := t.events[l.invoke].Generation
	w := t.newWitness(l.lock, l.ret, s.until, q, p)
	if s.enter.call > l.ret {
		w.What = fmt.Sprintf("%v came to round %d of barrier %q at %s and entered, although the round was over: %v had left it at %s", q, generation, l.lock, at(s.enter.call), p, at(l.ret))
		return w
	}
	w.What = fmt.Sprintf("%v left round %d of barrier %q at %s, while %v was inside%s", p, generation, l.lock, at(l.ret), q, t.stayed(s))
	return w
}

// stayed tells for how long a member was inside.
func (t *trace) stayed(s *stay) string {
	if s.until == forever {
		return " and did not leave"
	}
	return ", until " + at(s.until)
}
