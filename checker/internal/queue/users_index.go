package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/internal/collection"
)

// index finds the acquires under way that are ahead of another. It keeps readers apart: they
// are not in the way of each other. Entries that are out of date are skipped.
type index struct {
	unplaced [2][]*facts.Op            // those without a known place, by invocation
	placed   [2]collection.Heap[filed] // those with a known place, by place
	moved    [2][]filed                // those that have had another place before, by the time of the last place
	told     []filed                   // in a queue whose places have numbers: all reported places, by time
	highest  []int                     // the highest number of the first i+1 of told
}

// filed is an acquire with the place that it had when it was filed.
type filed struct {
	*facts.Op
	place facts.Place
}

// Before orders acquires by place.
func (f filed) Before(g filed) bool { return before(f.place, g.place) }

func (f filed) stands() bool { return under(f.Op) && f.last() }

// last reports whether the acquire has reported no place since.
func (f filed) last() bool { return f.Places[len(f.Places)-1].Event == f.place.Event }

// fewUsers is the number of acquires up to which they are visited one by one. Tests change it.
var fewUsers = 16

func newIndex(u *users) *index {
	x := &index{}
	if all := u.everyone(); numbered(all[0].Recipe()) {
		for _, o := range all {
			if place, known := lastPlace(o); known {
				x.told = append(x.told, filed{o, place})
			}
		}
		slices.SortFunc(x.told, func(a, b filed) int { return a.place.Event - b.place.Event })
		for i, f := range x.told {
			x.highest = append(x.highest, f.place.Sequence)
			if i > 0 {
				x.highest[i] = max(x.highest[i], x.highest[i-1])
			}
		}
	}
	var moved []filed
	for _, o := range u.open {
		if under(o) {
			x.add(o)
			if hasMoved(o) {
				moved = append(moved, filed{o, o.Places[len(o.Places)-1]})
			}
		}
	}
	slices.SortFunc(moved, func(a, b filed) int { return a.place.Event - b.place.Event })
	for _, f := range moved {
		x.moved[side(f.Op)] = append(x.moved[side(f.Op)], f)
	}
	return x
}

// hasMoved reports whether an acquire has had another place before its present one.
func hasMoved(o *facts.Op) bool {
	if numbered(o.Recipe()) {
		return len(o.Places) > 1
	}
	place, known := lastPlace(o)
	return known && o.Places[0].Token != place.Token
}

// add files an acquire that is under way.
func (x *index) add(o *facts.Op) {
	if place, known := lastPlace(o); known {
		x.placed[side(o)].Push(filed{o, place})
		return
	}
	all := x.unplaced[side(o)]
	i, _ := slices.BinarySearchFunc(all, o.Invoke, func(o *facts.Op, invoke int) int { return cmp.Compare(o.Invoke, invoke) })
	x.unplaced[side(o)] = slices.Insert(all, i, o)
}

// tells records that an acquire has reported a place.
func (x *index) tells(o *facts.Op) {
	x.add(o)
	place := o.Places[len(o.Places)-1]
	if hasMoved(o) {
		x.moved[side(o)] = append(x.moved[side(o)], filed{o, place})
	}
	if _, known := lastPlace(o); known && numbered(o.Recipe()) {
		x.told = append(x.told, filed{o, place})
		highest := place.Sequence
		if n := len(x.highest); n > 0 {
			highest = max(highest, x.highest[n-1])
		}
		x.highest = append(x.highest, highest)
	}
}

// earliest returns the first acquire without a known place, or nil.
func (x *index) earliest(side int) *facts.Op {
	all := x.unplaced[side]
	for len(all) > 0 {
		if _, known := lastPlace(all[0]); under(all[0]) && !known {
			break
		}
		all = all[1:]
	}
	if x.unplaced[side] = all; len(all) == 0 {
		return nil
	}
	return all[0]
}

// first returns the acquire with the first place.
func (x *index) first(side int) (filed, bool) {
	all := &x.placed[side]
	for len(*all) > 0 && !(*all)[0].stands() {
		all.Pop()
	}
	if len(*all) == 0 {
		return filed{}, false
	}
	return (*all)[0], true
}

// lastMove returns when the last of the acquires that have moved reported its place, and the
// first invoked of those that did so at that time.
func (x *index) lastMove(side int) (at time.Duration, invoke int) {
	all := x.moved[side]
	for len(all) > 0 && !all[len(all)-1].stands() {
		all = all[:len(all)-1]
	}
	x.moved[side] = all
	at, invoke = -1, -1
	for _, f := range slices.Backward(all) {
		switch {
		case !f.stands():
		case at < 0:
			at, invoke = f.place.Time, f.Invoke
		case f.place.Time < at:
			return at, invoke
		default:
			invoke = min(invoke, f.Invoke)
		}
	}
	return at, invoke
}

// mayBeRenumbered reports whether an acquire may have been told a number of at least number
// before a time.
func (x *index) mayBeRenumbered(before time.Duration, number int) bool {
	i, _ := slices.BinarySearchFunc(x.told, before, func(f filed, before time.Duration) int { return cmp.Compare(f.place.Time, before) })
	return i > 0 && x.highest[i-1] >= number
}

// place is the place of an acquire in the queue, to be compared with those of others.
type place struct {
	o     *facts.Op
	place facts.Place
	users *users

	asked, anew bool // whether renumbered was computed, and its result
}

// ahead reports whether o is ahead of another acquire, which has no hold.
func (q *place) ahead(x *facts.Op) bool {
	theirs, known := lastPlace(x)
	if !known && x.Reads() && x.Beside != nil {
		return false // a writer that becomes a reader keeps its place
	}
	if numbered(q.o.Recipe()) {
		return known && before(q.place, theirs) && x.Ret > q.place.Time && !q.renumbered() || x.Call > q.place.Time
	}
	return known && before(q.place, theirs) || !known && x.Call > q.place.Time
}

// renumbered reports whether the numbers of the places have begun anew just before o, as they
// do when all contenders have left the queue: another acquire had been told a number at least
// as high, before o was called. That acquire may have been granted, and not know it yet, so its
// number does not prove that it is behind o.
func (q *place) renumbered() bool {
	if q.asked {
		return q.anew
	}
	q.asked = true
	if x := q.users.index; x != nil && !x.mayBeRenumbered(q.o.Call, q.place.Sequence) {
		return false
	}
	q.anew = slices.ContainsFunc(q.users.everyone(), func(x *facts.Op) bool {
		theirs, known := lastPlace(x)
		return x != q.o && known && theirs.Time < q.o.Call && theirs.Sequence >= q.place.Sequence
	})
	if !q.anew && q.users.index != nil {
		q.users.index = newIndex(q.users) // without the outdated entries
	}
	return q.anew
}

// isBehind reports whether o is behind an acquire that is under way. For the others it calls
// left with the time when they had left their earlier place.
func (q *place) isBehind(left func(at time.Duration, gave *facts.Hold, invoke int)) bool {
	u := q.users
	if u.waiting > fewUsers {
		if u.index == nil {
			u.index = newIndex(u)
		}
		if behind, known := q.isBehindBy(left); known {
			return behind
		}
	}
	for _, x := range u.open {
		switch {
		case !under(x) || x.Reads() && q.o.Reads():
		case !q.ahead(x):
			return true
		case hasMoved(x):
			left(x.Places[len(x.Places)-1].Time, nil, x.Invoke)
		}
	}
	return false
}

// isBehindBy is isBehind by the index; known is false if the index cannot decide.
func (q *place) isBehindBy(left func(at time.Duration, gave *facts.Hold, invoke int)) (behind, known bool) {
	sides := 2
	if q.o.Reads() {
		sides = 1
	}
	for side := range sides {
		x := q.users.index
		if first := x.earliest(side); first != nil && first.Call <= q.place.Time {
			return true, true
		}
		first, ok := x.first(side)
		if ok && !before(q.place, first.place) {
			if numbered(q.o.Recipe()) && first.Call > q.place.Time {
				return false, false // its number is from another queue
			}
			return true, true
		}
		if numbered(q.o.Recipe()) && q.users.oldest(facts.Forever) <= q.place.Time && q.renumbered() {
			return true, true
		}
	}
	for side := range sides {
		if at, invoke := q.users.index.lastMove(side); at >= 0 {
			left(at, nil, invoke)
		}
	}
	return false, true
}
