package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
//   - Where the transaction that began a round is known, whoever had given up by an
//     earlier one is not counted: nothing was left of that member then, so that no
//     round could begin with it, however late anybody heard of the beginning.
//
// This needs no search. All of these ask for instants that are not too early, so
// the earliest for each is the best for all: round by round, the first instant at
// which enough members are there, and the first at which all have gone. There are
// instants at all exactly when these are no later than the answers allow.
//
// A round is kept until a later one has been entered and nothing of either is under
// way, and until it is known how long its members were inside: a session may be seen
// to have ended long after it did. That need not be known of those that were gone in
// any case when enough members of the next round were there, if nobody had left
// before them. An enter that comes after a later round was entered is too late
// whatever else it does.

// round is one generation of one double barrier.
type round struct {
	generation     int
	enters, leaves []*op  // by invocation
	late           []*op  // of the enters, those after a later round was entered
	inside         []stay // those who entered
}

// stay is one member inside.
type stay struct {
	enter *op
	until time.Duration // it was certainly inside before
}

// doubleBarrier is what the judge knows of one.
type doubleBarrier struct {
	size          int
	entered, left int         // members
	seen          []roundSeen // rounds that were entered, by time
	closed        int         // the last generation that has been judged
	rounds        []*round    // the others, in their order

	over   time.Duration // when the rounds that have been judged are over at the earliest
	last   *stay         // who went last
	before *round
}

// roundSeen says that a round had been entered by some time.
type roundSeen struct {
	at         time.Duration
	generation int // the highest so far
}

// take takes in what came to its end, by invocation.
func (d *doubleBarrier) take(v *Verdict, t *trace, ops []*op) {
	for _, o := range ops {
		if o.kind == histories.Enter && o.ok() {
			d.seen = append(d.seen, roundSeen{o.ret, o.generation})
		}
	}
	slices.SortFunc(d.seen, func(a, b roundSeen) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(d.seen); i++ {
		d.seen[i].generation = max(d.seen[i].generation, d.seen[i-1].generation)
	}
	for _, o := range ops {
		switch {
		case o.kind == histories.Enter && o.ok():
			d.entered++
		case o.kind == histories.Leave && o.ok():
			d.left++
		}
		late := false
		if later := d.seenBefore(o.call); o.kind == histories.Enter && o.ok() && later > o.generation {
			late = true
			if _, ended := t.sessions.expired[o.session]; !ended || t.sessions.alive[o.session] >= o.call {
				v.violate(func() Witness { return t.enteredLate(o, later) })
			}
		}
		if o.generation <= d.closed {
			continue // too late to make a difference
		}
		i, ok := slices.BinarySearchFunc(d.rounds, o.generation, func(r *round, g int) int { return r.generation - g })
		if !ok {
			d.rounds = slices.Insert(d.rounds, i, &round{generation: o.generation})
		}
		r := d.rounds[i]
		if late {
			r.late = append(r.late, o)
		}
		if o.kind == histories.Enter {
			r.enters = append(r.enters, o)
		} else {
			r.leaves = append(r.leaves, o)
		}
	}
	for _, r := range d.rounds {
		slices.SortFunc(r.enters, func(a, b *op) int { return a.invoke - b.invoke })
		slices.SortFunc(r.leaves, func(a, b *op) int { return a.invoke - b.invoke })
	}
}

// seenBefore returns the last round that had been entered before an instant, or 0.
func (d *doubleBarrier) seenBefore(when time.Duration) int {
	i, _ := slices.BinarySearchFunc(d.seen, when, func(s roundSeen, when time.Duration) int { return cmp.Compare(s.at, when) })
	if i == 0 {
		return 0
	}
	return d.seen[i-1].generation
}

// judge judges the rounds of which all that matters is known.
func (d *doubleBarrier) judge(v *Verdict, t *trace, lock string) {
	open := map[int]bool{} // rounds with an operation under way
	first := t.end
	for _, p := range t.procs {
		for _, o := range p.open {
			if o.lock == lock {
				open[o.generation] = true
				first = min(first, o.call)
			}
		}
	}
	for len(d.rounds) > 0 {
		r := d.rounds[0]
		d.stays(t, r)
		if !t.last && (len(d.rounds) == 1 || open[r.generation] || open[d.rounds[1].generation] || !d.decided(t, r, d.rounds[1])) {
			break
		}
		d.close(v, t, r)
		d.rounds, d.closed = slices.Delete(d.rounds, 0, 1), r.generation
	}
	for len(d.seen) > 1 && d.seen[1].at < first {
		d.seen = slices.Delete(d.seen, 0, 1)
	}
}

// stays finds out who entered a round, and how long they stayed.
func (d *doubleBarrier) stays(t *trace, r *round) {
	r.inside = nil
	for _, e := range r.enters {
		if r.entered(e) {
			r.inside = append(r.inside, stay{e, t.insideUntil(r, e)})
		}
	}
}

// entered reports whether e, one of the enters, entered the round, and not too late.
func (r *round) entered(e *op) bool { return e.ok() && !slices.Contains(r.late, e) }

// decided reports whether nothing that is still to come makes a difference to round
// r, or to what it asks of the next one.
func (d *doubleBarrier) decided(t *trace, r, next *round) bool {
	first := next.first()
	if first == nil {
		return false
	}
	gathered := t.begins(next, d.size, 0)
	for _, s := range r.inside {
		_, ended := t.sessions.expired[s.enter.session]
		if s.until < forever && (ended || t.sessions.alive[s.enter.session] >= s.until) {
			continue // that is known for certain
		}
		if s.until > gathered || gathered > first.ret || slices.ContainsFunc(r.leaves, func(l *op) bool { return l.ok() && l.ret < s.until }) {
			return false
		}
	}
	return true
}

// close judges a round, after those before it.
func (d *doubleBarrier) close(v *Verdict, t *trace, r *round) {
	begun := t.begins(r, d.size, d.over)
	for _, s := range r.inside {
		if e := s.enter; e.ret < begun {
			before, last, over := d.before, d.last, d.over
			v.violate(func() Witness { return t.enteredEarly(e, r, before, last, over) })
		} else if counted, gone := r.countedFor(e); len(gone) > 0 && counted < d.size {
			v.violate(func() Witness { return t.enteredWithout(e, counted, gone) })
		}
	}
	for i := range r.inside {
		if s := &r.inside[i]; s.until > d.over {
			d.over, d.last, d.before = s.until, s, r
		}
	}
	for _, l := range r.leaves {
		if !l.ok() {
			continue
		}
		for i := range r.inside {
			if s := &r.inside[i]; s.until > l.ret {
				v.violate(func() Witness { return t.leftEarly(l, s) })
				break // one witness for each who left
			}
		}
	}
	if first := r.first(); first != nil && begun <= first.ret && begun > d.over {
		d.over, d.last, d.before = begun, nil, r
	}
}

// first returns the enter that returned first.
func (r *round) first() *op {
	var first *op
	for _, e := range r.enters {
		if r.entered(e) && (first == nil || e.ret < first.ret) {
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
			if ended, ok := t.sessions.expired[e.session]; ok && ended < when {
				continue
			}
		}
		members[e.process] = true
	}
	return len(members)
}

// countedFor returns how many members can have begun the round that e entered, and
// who cannot, having given up before.
func (r *round) countedFor(e *op) (counted int, gone []*op) {
	none := histories.Token{}
	members := map[int]bool{}
	for _, o := range r.enters {
		switch {
		case o.call > e.ret:
		case o.result == histories.Fail && o.token != none && e.token != none && o.token.Zxid < e.token.Zxid:
			gone = append(gone, o)
		default:
			members[o.process] = true
		}
	}
	return len(members), gone
}

// insideUntil returns how long who entered by e was certainly inside.
func (t *trace) insideUntil(r *round, e *op) time.Duration {
	end := forever
	for _, l := range r.leaves {
		if l.process == e.process && l.invoke > e.done {
			end = l.call
			break
		}
	}
	end = min(end, e.by.retired)
	if _, ended := t.sessions.expired[e.session]; ended {
		end = min(end, t.sessions.alive[e.session])
	}
	if forced := t.faults.forcedIn(e.process, e.call, end); len(forced) > 0 {
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

func (t *trace) enteredWithout(e *op, counted int, gone []*op) Witness {
	p := e.party()
	var names []string
	from := e.ret
	for _, o := range gone {
		names = append(names, fmt.Sprintf("%v had given up by transaction %#x", o.party(), o.token.Zxid))
		from = min(from, o.call)
	}
	w := t.newWitness(e.lock, from, e.ret, p, gone[0].party())
	w.What = fmt.Sprintf("%v entered round %d of barrier %q at %s, which transaction %#x began, with %d of its %d members: %s",
		p, e.generation, e.lock, at(e.ret), e.token.Zxid, counted, t.header.Locks[e.lock].Size, strings.Join(names, ", "))
	return w
}

func (t *trace) enteredLate(e *op, later int) Witness {
	p := e.party()
	w := t.newWitness(e.lock, e.call, e.ret, p)
	w.What = fmt.Sprintf("%v came to round %d of barrier %q at %s and entered, although round %d had been entered before", p, e.generation, e.lock, at(e.call), later)
	return w
}

func (t *trace) leftEarly(l *op, s *stay) Witness {
	p, q := l.party(), s.enter.party()
	generation := l.generation
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
