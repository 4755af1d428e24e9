package queue

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/internal/collection"
)

// users are the acquires of one lock that may be in the way of others: those under way, those
// that hold the lock, and those that are over and may have left a node behind. For the first
// two kinds it is known without visiting each whether one is in the way.
type users struct {
	open     []*facts.Op               // under way, by invocation; some may have ended
	waiting  int                       // the number of those that have not ended
	holders  []*facts.Op               // that have the lock; some may have ended
	holding  [2]int                    // how many of them have not ended: writers and others, and readers
	permits  int                       // the permits that they have together
	over     []*facts.Op               // the others
	stay     int                       // the number of the first of them that no grant shows to have left
	looked   int                       // the first of them are not re-entries
	behind   [2]collection.Heap[filed] // further ones, of writers and of readers: their places are behind the latest grant's
	fading   []*facts.Op               // of the others, those that were released, until their departure is known, or that they left a node
	rested   [2][]*facts.Op            // of those, the ones whose departure is known, in its order: see restsFor
	ready    []*facts.Op               // of the rested, those whose sessions have lived on
	out      map[*facts.Op]bool        // of the rested, those that no longer count
	soonest  time.Duration             // when the first of those in over and fading with a session was answered, or earlier
	lookedIn string                    // the session whose grant was the last that they were all looked at for
	others   time.Duration             // as soonest, of those that have not been in that session
	granted  time.Duration             // when the last acquire was granted
	nameless int                       // the number of holders without a session
	session  string                    // the common session of the places of all holders
	apart    bool                      // they have no common session
	kept     int                       // the number of all after the last removal
	index    *index                    // the index of those under way; nil while they are few
}

// usersOf are the users of each lock. Most of a million locks have one user, which takes only
// its place in a slice.
type usersOf struct {
	first []*facts.Op // the user of each lock; nil when there were several, or none
	more  facts.PerLock[users]
	none  users
}

// of returns the users of a lock, and whether they have to be maintained. For a lock with one
// user the set is empty.
func (u *usersOf) of(lock *facts.LockInfo) (all *users, several bool) {
	if all := u.more.Of(lock); all != nil {
		return all, true
	}
	return &u.none, false
}

// invoked records that an acquire is under way.
func (u *usersOf) invoked(o *facts.Op) {
	lock := o.Info()
	all := u.more.Of(lock)
	if all == nil {
		at := lock.Number()
		for at >= len(u.first) {
			u.first = append(u.first, nil)
		}
		first := u.first[at]
		if first == nil {
			u.first[at] = o
			return
		}
		u.first[at] = nil
		all = u.more.Make(lock, func() *users { return new(users) })
		all.add(first)
	}
	all.add(o)
}

// crashed records that an operation will not be answered.
func (u *usersOf) crashed(o *facts.Op) {
	if all, several := u.of(o.Info()); several {
		all.leaves()
		all.over = append(all.over, o)
		all.soonest, all.others = 0, 0 // its process retires now, see answered
	}
}

// add files an acquire by its present state.
func (u *users) add(o *facts.Op) {
	h := own(o)
	if h != nil {
		u.granted = max(u.granted, o.Ret)
	}
	switch {
	case o.Done < 0 && !o.Gone:
		u.open = append(u.open, o)
		u.waiting++
		if u.index != nil {
			u.index.add(o)
		}
	case h != nil && h.EndEvent < 0:
		u.holders = append(u.holders, o)
		u.holding[side(o)]++
		u.permits += h.Permits
		if h.Session == "" {
			u.nameless++
		}
		if at := placeIn(o); u.holding[0]+u.holding[1] == 1 {
			u.session, u.apart = at, false
		} else {
			u.apart = u.apart || at != u.session
		}
	case h != nil && h.Why == facts.ByRelease:
		u.fading = append(u.fading, o)
		u.counts(o)
	default:
		u.over = append(u.over, o)
		u.counts(o)
	}
}

// counts takes an acquire that is over into soonest and others.
func (u *users) counts(o *facts.Op) {
	if o.Session == "" {
		return
	}
	if u.soonest = min(u.soonest, answered(o)); !o.Was(u.lookedIn) {
		u.others = min(u.others, answered(o))
	}
}

// own returns the hold that an acquire has begun, nil if it has begun none.
func own(o *facts.Op) *facts.Hold {
	if o.Hold != nil && o.Hold.Acquire == o {
		return o.Hold
	}
	return nil
}

// restsFor reports whether it is known when an acquire left no node behind any more: a release
// of its hold was answered.
func restsFor(o *facts.Op, h *facts.Hold) bool {
	return h.Released != facts.Forever && !o.ChangedSession()
}

// side returns the index under which an acquire is counted: 1 if it reads.
func side(o *facts.Op) int {
	if o.Reads() {
		return 1
	}
	return 0
}

// under reports whether an acquire is still under way.
func under(o *facts.Op) bool { return o.Done < 0 && !o.Gone }

// ends records that an acquire is no longer under way, and files it anew.
func (u *users) ends(o *facts.Op) {
	u.leaves()
	u.add(o)
}

// leaves records that one acquire is no longer under way.
func (u *users) leaves() {
	if u.waiting--; len(u.open) > 2*u.waiting+16 {
		u.open = slices.DeleteFunc(u.open, func(o *facts.Op) bool { return !under(o) })
	}
	if u.waiting == 0 {
		u.open, u.index = nil, nil
	}
}

// ended records that a hold has ended.
func (u *users) ended(h *facts.Hold) {
	u.without(h)
	if n := u.holding[0] + u.holding[1]; len(u.holders) > 2*n+16 {
		u.holders = slices.DeleteFunc(u.holders, func(o *facts.Op) bool { return o.Hold.EndEvent >= 0 })
	}
	u.add(h.Acquire)
}

// without removes one hold from the counts of holders.
func (u *users) without(h *facts.Hold) {
	u.holding[side(h.Acquire)]--
	u.permits -= h.Permits
	if h.Session == "" {
		u.nameless--
	}
}

// placeIn returns the session in which an acquire has its place.
func placeIn(o *facts.Op) string {
	if place, known := o.LastPlace(); known {
		return place.Session
	}
	return o.Session
}

// alike reports whether the places of all holders, and that of another acquire, are of one
// session.
func (u *users) alike(o *facts.Op) bool {
	return !u.apart && u.session == o.Session && u.session == placeIn(o)
}

// held reports whether a holder is in the way of o. Only writers are in the way of a reader.
func (u *users) held(o *facts.Op) bool {
	return u.holding[0] > 0 || u.holding[1] > 0 && !o.Reads()
}

// settle finds the users whose departure is known by now, and calls rests with each.
func (u *users) settle(rests func(*facts.Op)) {
	u.fading = slices.DeleteFunc(u.fading, func(o *facts.Op) bool {
		h := own(o)
		switch {
		case h.Released == facts.Forever:
			return false
		case !restsFor(o, h):
			u.over = append(u.over, o)
			return true
		}
		all := &u.rested[side(o)]
		i := len(*all)
		for i > 0 && (*all)[i-1].Hold.Released > h.Released { // they come nearly in that order
			i--
		}
		*all = slices.Insert(*all, i, o)
		rests(o)
		return true
	})
}

// fate tells what a grant says of an acquire that is over.
type fate int

const (
	mayStay  fate = iota // a later grant may tell more
	hasLeft              // its node is gone
	willStay             // no grant will tell more
	isBehind             // it is behind the grant, and has had no other place
)

// dropOver removes those that are over, from the first to look at on, and have left when another
// was granted the lock. The place of that one tells which have left; without a place only
// re-entries have.
func (u *users) dropOver(first int, tell func(*facts.Op) fate) {
	var stay, rest []*facts.Op
	for _, x := range u.over[first:] {
		switch tell(x) {
		case willStay:
			stay = append(stay, x)
		case mayStay:
			rest = append(rest, x)
		case isBehind:
			place, _ := x.LastPlace()
			u.behind[side(x)].Push(filed{x, place})
		}
	}
	u.over = append(append(u.over[:first], stay...), rest...)
	u.stay += len(stay)
	u.looked = len(u.over)
}

// reach moves those that are not behind a place any more to the others that are over.
func (u *users) reach(at facts.Place) {
	for i := range u.behind {
		for h := &u.behind[i]; len(*h) > 0 && !before(at, (*h)[0].place); {
			u.over = append(u.over, h.Pop().Op)
		}
	}
}

// drop removes some of the rested from the count.
func (u *users) drop(left func(*facts.Op) bool, some []*facts.Op) {
	if u.out == nil {
		u.out = map[*facts.Op]bool{}
	}
	for _, o := range some {
		if !u.out[o] && left(o) {
			u.out[o] = true
		}
	}
	if 2*len(u.out) > len(u.rested[0])+len(u.rested[1]) {
		for i := range u.rested {
			u.rested[i] = slices.DeleteFunc(u.rested[i], func(o *facts.Op) bool { return u.out[o] })
		}
		clear(u.out)
	}
}

// all returns the number of users.
func (u *users) all() int {
	return u.waiting + u.holding[0] + u.holding[1] + len(u.over) + len(u.behind[0]) + len(u.behind[1]) + len(u.fading) + len(u.rested[0]) + len(u.rested[1]) - len(u.out)
}

// oldest returns the earliest call of the acquires under way, none if there is no such acquire.
func (u *users) oldest(none time.Duration) time.Duration {
	for len(u.open) > 0 && !under(u.open[0]) {
		u.open = u.open[1:]
	}
	if len(u.open) > 0 {
		none = min(none, u.open[0].Call)
	}
	return none
}

// forget drops the users that had left before the oldest acquire under way was called, if there
// are many. It returns whether there were, and the time of that call.
func (u *users) forget(now time.Duration, until func(*facts.Op) time.Duration) (many bool, oldest time.Duration) {
	if u.all() <= 2*u.kept+256 {
		return false, 0
	}
	oldest = u.oldest(now)
	gone := func(x *facts.Op) bool { return until(x) < oldest }
	u.over, u.fading = slices.DeleteFunc(u.over, gone), slices.DeleteFunc(u.fading, gone)
	u.stay, u.looked = 0, 0
	for i, all := range u.behind {
		u.behind[i] = nil
		for _, f := range all {
			if !gone(f.Op) {
				u.behind[i].Push(f)
			}
		}
	}
	for i := range u.rested {
		u.rested[i] = slices.DeleteFunc(u.rested[i], func(x *facts.Op) bool { return u.out[x] || gone(x) })
	}
	clear(u.out)
	u.kept = u.all()
	return true, oldest
}

// left returns the users that are neither under way nor hold the lock.
func (u *users) left() []*facts.Op {
	all := slices.Concat(u.over, u.fading, u.rested[0], u.rested[1])
	for _, f := range slices.Concat(u.behind[0], u.behind[1]) {
		all = append(all, f.Op)
	}
	return slices.DeleteFunc(all, func(o *facts.Op) bool { return u.out[o] })
}

// everyone returns all users.
func (u *users) everyone() []*facts.Op {
	var all []*facts.Op
	for _, o := range u.open {
		if under(o) {
			all = append(all, o)
		}
	}
	for _, o := range u.holders {
		if o.Hold.EndEvent < 0 {
			all = append(all, o)
		}
	}
	return slices.Concat(all, u.left())
}
