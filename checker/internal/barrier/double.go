package barrier

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Each generation of a double barrier is one round. It begins at an instant at which as many
// members are there as the barrier has, and is over when all members that entered have left.
// Rounds follow one another. The recorder of the generations makes sure that no node of an
// earlier round is left when the next one gathers.
//
//   - An enter that returned ok did so after its round had begun. A member is there from the
//     invocation of its enter on. A member whose enter failed may have been counted, since its
//     node goes later, but not after its session was seen to end.
//   - A leave that returned ok did so when the round was over. A member that entered is inside
//     until it invokes its leave, crashes, or its session ends.
//   - A round begins when the earlier ones are over.
//   - Where the transaction that began a round is known, a member whose node was gone by an
//     earlier transaction is not counted, even if the other members learned late that the round
//     had begun.
//
// This needs no search. Each of these rules asks for an instant that is not too early, so the
// earliest one for each is the best for all: round by round, the first instant at which enough
// members are there, and the first at which all have left. Suitable instants exist exactly when
// these are no later than the answers allow.
//
// A round is kept until a later one has been entered and no operation of either is under way,
// and until it is known how long its members were inside: a session may be seen to have ended
// long after it did. The latter need not be known for members that had certainly left when
// enough members of the next round were there, if no other member had left before them. An
// enter that comes after a later round was entered is too late in any case.

// round is one generation of one double barrier.
type round struct {
	generation     int
	enters, leaves []*facts.Op        // by invocation
	late           map[*facts.Op]bool // enters that came after a later round was entered
	inside         []stay             // the members that entered
}

// stay is one member inside.
type stay struct {
	enter *facts.Op
	until time.Duration // it was certainly inside until then
}

// doubleBarrier is the judge's record of one double barrier.
type doubleBarrier struct {
	size          int
	entered, left int         // members
	nameless      int         // enters of which nothing shows the round
	seen          []roundSeen // rounds that were entered, by time
	closed        int         // the last generation that has been judged
	rounds        []*round    // the others, in their order

	over   time.Duration // the earliest end of the rounds that have been judged
	last   *stay         // the last member to leave
	before *round
}

// roundSeen records that a round had been entered by some time.
type roundSeen struct {
	at         time.Duration
	generation int // the highest so far
}

// take takes in the settled operations, by invocation.
func (d *doubleBarrier) take(v *verdict.Verdict, t *facts.Trace, ops []*facts.Op) {
	for _, o := range ops {
		if o.Kind == histories.Enter && o.OK() && o.Generation > 0 {
			d.seen = append(d.seen, roundSeen{o.Ret, o.Generation})
		}
	}
	slices.SortFunc(d.seen, func(a, b roundSeen) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(d.seen); i++ {
		d.seen[i].generation = max(d.seen[i].generation, d.seen[i-1].generation)
	}
	for _, o := range ops {
		if o.Generation == 0 && (t.Service == nil || !t.Service.Exact()) {
			if o.Kind == histories.Enter {
				d.nameless++
			}
			continue
		}
		switch {
		case o.Kind == histories.Enter && o.OK():
			d.entered++
		case o.Kind == histories.Leave && o.OK():
			d.left++
		}
		if o.Generation == 0 {
			continue // see members
		}
		late := false
		if later := d.seenBefore(o.Call); o.Kind == histories.Enter && o.OK() && later > o.Generation {
			late = true
			if _, ended := t.Sessions.Expired[o.Session]; !ended || t.Sessions.Alive[o.Session] >= o.Call {
				v.Violate(func() verdict.Witness { return enteredLate(t, o, later) })
			}
		}
		if o.Generation <= d.closed {
			continue // too late to make a difference
		}
		i, ok := slices.BinarySearchFunc(d.rounds, o.Generation, func(r *round, g int) int { return r.generation - g })
		if !ok {
			d.rounds = slices.Insert(d.rounds, i, &round{generation: o.Generation, late: map[*facts.Op]bool{}})
		}
		r := d.rounds[i]
		if late {
			r.late[o] = true
		}
		if o.Kind == histories.Enter {
			r.enters = append(r.enters, o)
		} else {
			r.leaves = append(r.leaves, o)
		}
	}
	for _, r := range d.rounds {
		slices.SortFunc(r.enters, func(a, b *facts.Op) int { return a.Invoke - b.Invoke })
		slices.SortFunc(r.leaves, func(a, b *facts.Op) int { return a.Invoke - b.Invoke })
	}
}

// seenBefore returns the highest round that had been entered before an instant, or 0.
func (d *doubleBarrier) seenBefore(when time.Duration) int {
	i, _ := slices.BinarySearchFunc(d.seen, when, func(s roundSeen, when time.Duration) int { return cmp.Compare(s.at, when) })
	if i == 0 {
		return 0
	}
	return d.seen[i-1].generation
}

// judge judges the rounds whose relevant facts are all known.
func (d *doubleBarrier) judge(v *verdict.Verdict, t *facts.Trace, lock string) {
	open := map[int]bool{} // rounds with an operation under way
	first := t.End
	for o := range t.Open() {
		if o.Lock == lock {
			open[o.Generation] = true
			first = min(first, o.Call)
		}
	}
	for len(d.rounds) > 0 {
		r := d.rounds[0]
		d.stays(t, r)
		if !t.Last && (len(d.rounds) == 1 || open[r.generation] || open[d.rounds[1].generation] || !d.decided(t, r, d.rounds[1])) {
			break
		}
		d.close(v, t, r)
		d.rounds, d.closed = slices.Delete(d.rounds, 0, 1), r.generation
	}
	for len(d.seen) > 1 && d.seen[1].at < first {
		d.seen = slices.Delete(d.seen, 0, 1)
	}
}

// stays determines which members entered a round, and how long they stayed.
func (d *doubleBarrier) stays(t *facts.Trace, r *round) {
	r.inside = nil
	leaves := r.leavesOf()
	for _, e := range r.enters {
		if r.entered(e) {
			r.inside = append(r.inside, stay{e, insideUntil(t, leaves[e.Process], e)})
		}
	}
}

// leavesOf returns the leaves of each process, by invocation.
func (r *round) leavesOf() map[int][]*facts.Op {
	leaves := map[int][]*facts.Op{}
	for _, l := range r.leaves {
		leaves[l.Process] = append(leaves[l.Process], l)
	}
	return leaves
}

// entered reports whether e, one of the enters, entered the round, and not too late.
func (r *round) entered(e *facts.Op) bool { return e.OK() && !r.late[e] }

// decided reports whether no later event can affect round r, or its demands on the next one.
func (d *doubleBarrier) decided(t *facts.Trace, r, next *round) bool {
	first := next.first()
	if first == nil {
		return false
	}
	gathered := begins(t, next, d.size, 0)
	left := facts.Forever // when a member had first left
	for _, l := range r.leaves {
		if l.OK() {
			left = min(left, l.Ret)
		}
	}
	for _, s := range r.inside {
		_, ended := t.Sessions.Expired[s.enter.Session]
		if s.until < facts.Forever && (ended || t.Sessions.Alive[s.enter.Session] >= s.until) {
			continue // that is certain
		}
		if s.until > gathered || gathered > first.Ret || left < s.until {
			return false
		}
	}
	return true
}

// close judges a round, after those before it.
func (d *doubleBarrier) close(v *verdict.Verdict, t *facts.Trace, r *round) {
	begun, alone := begins(t, r, d.size, d.over), begins(t, r, d.size, 0)
	short := r.short(d.size)
	for _, s := range r.inside {
		if e := s.enter; e.Ret < begun {
			before, last, over := d.before, d.last, d.over
			from := e.Call
			if alone <= e.Ret && over > e.Ret {
				from = e.Ret
			}
			v.ViolateFrom(from, func() verdict.Witness { return enteredEarly(t, e, r, before, last, over) })
		} else if c, few := short[e]; few {
			v.ViolateFrom(min(c.from, e.Ret), func() verdict.Witness { return enteredWithout(t, e, c.members, r.goneBefore(e)) })
		}
	}
	for i := range r.inside {
		if s := &r.inside[i]; s.until > d.over {
			d.over, d.last, d.before = s.until, s, r
		}
	}
	longest := make([]time.Duration, len(r.inside)) // longest[i] is the latest departure of the first i+1 members
	for i, s := range r.inside {
		longest[i] = s.until
		if i > 0 {
			longest[i] = max(s.until, longest[i-1])
		}
	}
	for _, l := range r.leaves {
		if i := sort.Search(len(longest), func(i int) bool { return longest[i] > l.Ret }); l.OK() && i < len(longest) {
			s := &r.inside[i] // one witness for each member that left
			v.Violate(func() verdict.Witness { return leftEarly(t, l, s) })
		}
	}
	if first := r.first(); first != nil && begun <= first.Ret && begun > d.over {
		d.over, d.last, d.before = begun, nil, r
	}
}

// first returns the enter that returned first.
func (r *round) first() *facts.Op {
	var first *facts.Op
	for _, e := range r.enters {
		if r.entered(e) && (first == nil || e.Ret < first.Ret) {
			first = e
		}
	}
	return first
}

// insideUntil returns the time until which the member of e was certainly inside. A session may
// have ended although no observer saw its end, if its client lost its link, or was paused,
// before it could show the session to the observer. Then its leave fails, or a crash or the end
// of the history comes first, and no operation of the session follows.
func insideUntil(t *facts.Trace, leaves []*facts.Op, e *facts.Op) time.Duration {
	end, failed := facts.Forever, false
	if i := sort.Search(len(leaves), func(i int) bool { return leaves[i].Invoke > e.Done }); i < len(leaves) {
		end, failed = leaves[i].Call, leaves[i].Result == histories.Fail
	}
	end = min(end, e.By.Retired)
	alive := t.Sessions.Alive[e.Session]
	_, ended := t.Sessions.Expired[e.Session]
	if ended || t.Last && e.Session != "" && alive < end && (failed || t.Faults.Struck(e.Process, alive, end)) {
		end = min(end, alive)
	}
	if forced := t.Faults.ForcedIn(e.Process, e.Session, e.Call, end); len(forced) > 0 {
		end = min(end, max(forced[0].From, e.Call))
	}
	return end
}
