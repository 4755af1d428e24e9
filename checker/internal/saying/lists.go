package saying

import (
	"cmp"
	"slices"
	"sort"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// lists are those that were made of a queue while some stood in it who may give back what they
// are granted: then the node of such a one was there all the time. When it is given back, the
// lists are found in which it was not, or with another session. Of those in which it was there is
// an entry each, so that no list is held against all who stand in the queue.
type lists struct {
	standing []*facts.Op // acquires that have told their place, in that order; some may be over
	kept     int         // how many of them there were when they were last gone through
	all      []list
	dropped  int                // how many there were before those
	in       map[int64][]inList // by zxid, in order
}

// list is a list of a queue.
type list struct {
	event int
	said  verdict.Party
	n     int     // how many there were in it
	zxids []int64 // theirs, each once
}

// inList is a contender in a list.
type inList struct {
	n       int // of the list, counted from the first that there ever was
	session string
}

// stands takes in that an acquire has told its place.
func (l *lists) stands(o *facts.Op) {
	if len(l.standing) > 2*l.kept+16 {
		l.standing = slices.DeleteFunc(l.standing, leftFor)
		l.kept = len(l.standing)
	}
	l.standing = append(l.standing, o)
}

// leftFor reports whether an acquire stands in the queue no more, and will not be known to have
// given back what it was granted.
func leftFor(o *facts.Op) bool {
	h := o.Hold
	switch {
	case o.Gone:
		return true
	case o.Done < 0:
		return false
	case h == nil:
		return true
	}
	return h.EndEvent >= 0 && (h.Why != facts.ByRelease || h.Released != facts.Forever || o.By.Gone())
}

// add takes a list in, if anybody stands in the queue.
func (l *lists) add(i int, said verdict.Party, queue []histories.Participant) {
	for len(l.standing) > 0 && leftFor(l.standing[0]) {
		l.standing = l.standing[1:]
	}
	first := i
	if len(l.standing) > 0 {
		first = l.standing[0].Places[0].Event
	}
	l.drop(first)
	if len(l.standing) == 0 {
		return
	}
	made := list{event: i, said: said, n: len(queue), zxids: make([]int64, 0, len(queue))}
	n := l.dropped + len(l.all)
	if l.in == nil {
		l.in = map[int64][]inList{}
	}
	for _, p := range queue {
		zxid := p.Token.Zxid
		if of := l.in[zxid]; len(of) > 0 && of[len(of)-1].n == n {
			of[len(of)-1].session = p.Session // twice in one list: the last one counts
			continue
		}
		made.zxids = append(made.zxids, zxid)
		l.in[zxid] = append(l.in[zxid], inList{n, p.Session})
	}
	l.all = append(l.all, made)
}

// drop forgets the lists that were made before an event.
func (l *lists) drop(before int) {
	past := 0
	for ; past < len(l.all) && l.all[past].event < before; past++ {
		for _, zxid := range l.all[past].zxids {
			if of := l.in[zxid][1:]; len(of) > 0 {
				l.in[zxid] = of
			} else {
				delete(l.in, zxid)
			}
		}
	}
	l.all, l.dropped = l.all[past:], l.dropped+past
}

// givenBack judges the lists that were made while the acquire of a hold, which has been given
// back, stood in the queue with the token of that hold.
func (s *sayings) givenBack(l *lists, h *facts.Hold) {
	o := h.Acquire
	if h.Token.Sub != 0 {
		return
	}
	for k, place := range o.Places {
		if place.Token != h.Token {
			continue // it had another place then
		}
		until := h.EndEvent
		if k+1 < len(o.Places) {
			until = min(until, o.Places[k+1].Event)
		}
		from, to := l.before(place.Event), l.before(until)
		of := l.in[place.Token.Zxid]
		i, _ := slices.BinarySearchFunc(of, from+l.dropped, func(e inList, n int) int { return cmp.Compare(e.n, n) })
		for of = of[i:]; from < to; from++ {
			made := &l.all[from]
			there := len(of) > 0 && of[0].n == l.dropped+from
			session := ""
			if there {
				session, of = of[0].session, of[1:]
			}
			if there && (session == "" || h.Session == "" || session == h.Session) || place.Time >= made.said.From || tookAway(s.t, o, place, made) {
				continue
			}
			s.wrongList(made, h, there, session)
		}
	}
}

// before returns how many of the lists were made before an event.
func (l *lists) before(event int) int {
	return sort.Search(len(l.all), func(i int) bool { return l.all[i].event >= event })
}

// tookAway reports whether a fault may have taken away, by the time of a list, the node by
// which an acquire stands in a queue. Who cannot reach a server does not hear of it, may
// be granted the lock after that, and gives it back without being told otherwise. Neither
// does a process that is paused: it may give a lock back as it wakes, whose session has ended.
func tookAway(t *facts.Trace, o *facts.Op, p facts.Place, made *list) bool {
	by := made.said.To
	known := func(is func(*facts.Fault) bool) func(*facts.Fault) bool {
		return func(f *facts.Fault) bool { return f.Event < made.event && is(f) }
	}
	return slices.ContainsFunc(t.Faults.Excusing(o.Process, p.Session, p.Time, by), known((*facts.Fault).ForcesExpiry)) ||
		slices.ContainsFunc(t.Faults.Excusing(o.Process, "", max(p.Time, by-t.Faults.WakeGrace), by), known((*facts.Fault).Pauses)) ||
		t.Faults.MayHaveDeleted(o.Lock, p.Token, p.Session, p.Time, by, made.event)
}
