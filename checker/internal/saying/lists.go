package saying

import (
	"cmp"
	"slices"
	"sort"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// lists are the lists of a queue that were made while a contender stood in it that may still
// release its grant. After the release it is known that the contender's node existed all that
// time, and the lists that lack it, or show it with another session, are wrong. The
// entries of a list are indexed by zxid, so that a list need not be compared with every
// contender of the queue.
type lists struct {
	standing []*facts.Op // acquires that have reported their place, in that order; some may be over
	kept     int         // the length of standing after the last removal
	all      []list
	dropped  int                // the number of lists dropped before those
	in       map[int64][]inList // by zxid, in order
}

// list is a list of a queue, as a client was told it.
type list struct {
	event int
	said  verdict.Party
	n     int     // the number of contenders in it
	zxids []int64 // their zxids, each once
}

// inList is a contender in a list.
type inList struct {
	n       int // the number of the list, counted from the first ever
	session string
}

// stands records that an acquire has reported its place.
func (l *lists) stands(o *facts.Op) {
	if len(l.standing) > 2*l.kept+16 {
		l.standing = slices.DeleteFunc(l.standing, leftFor)
		l.kept = len(l.standing)
	}
	l.standing = append(l.standing, o)
}

// leftFor reports whether an acquire has left the queue without a release that could still be
// recorded.
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

// add adds a list, if a contender stands in the queue.
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

// drop drops the lists that were made before an event.
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

// givenBack judges the lists that were made while the acquire of a hold, which has been
// released, stood in the queue with the hold's token.
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

// before returns the number of lists that were made before an event.
func (l *lists) before(event int) int {
	return sort.Search(len(l.all), func(i int) bool { return l.all[i].event >= event })
}

// tookAway reports whether a fault may have removed, by the time of a list, the node of an
// acquire in a queue. A client that cannot reach a server does not learn of that: it may be
// granted the lock afterwards, and release it without an error. The same goes for a process
// that is paused: it may release a lock as it wakes, although its session has ended.
func tookAway(t *facts.Trace, o *facts.Op, p facts.Place, made *list) bool {
	by := made.said.To
	known := func(is func(*facts.Fault) bool) func(*facts.Fault) bool {
		return func(f *facts.Fault) bool { return f.Event < made.event && is(f) }
	}
	return slices.ContainsFunc(t.Faults.Excusing(o.Process, p.Session, p.Time, by), known((*facts.Fault).ForcesExpiry)) ||
		slices.ContainsFunc(t.Faults.Excusing(o.Process, "", max(p.Time, by-t.Faults.WakeGrace), by), known((*facts.Fault).Pauses)) ||
		t.Faults.MayHaveDeleted(o.Lock, p.Token, p.Session, p.Time, by, made.event)
}
