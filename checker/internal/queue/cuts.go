package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/judge"
)

// queueSegment is a segment of the history of a queue.
type queueSegment = judge.Segment[queueCut, QueueStep]

// queueCut is a cut, with the state of the queue there.
type queueCut struct {
	time    int64 // on the clock of the search
	entered int   // how many contenders had entered
	granted int   // the last contender that was granted the lock, or none
}

const none = -1

// queueStart is the cut at the start of a history.
var queueStart = queueCut{-1, 0, none}

// state returns the state of the queue at the cut. Before the first grant, granted is none.
func (c queueCut) state() QueueState {
	return QueueState{Next: c.entered, Head: max(c.granted, 0), Granted: c.granted != none}
}

// cutQueue cuts one lock's contenders, sorted by place, into segments of about size steps.
// Contender i enters in [Enter, Place.Time], is granted the lock in [Enter, Op.Ret] if it was,
// and leaves at Stays or any time later. The whole is linearizable exactly when every segment
// is.
//
// Any instant t between two events can be a cut, since the queue at t can be taken to be
// decided. Let E be the contenders up to the last place that was certainly in the queue by t,
// and g the last contender that was certainly granted the lock by t. Places are taken in order,
// so all of E have entered by t. Only the head is granted, so all contenders before g have left
// by t. A linearization stays one if every other step that is open across t is put off until
// just after t:
//
//   - An entry of a contender not in E: before t only its own grant depends on it, which returned
//     after t.
//   - A departure of g or of a contender behind it: only a grant further behind could depend on
//     it, and all grants certain by t are of g or before it.
//   - A grant of k that returned after t, with k behind g: the head was k from then on, or k left,
//     and either way no grant that was certain by t came after it. (A grant of a contender before
//     g is not put off: that contender left before g's grant.)
//
// So the queue at t is E without the contenders before g. Conversely the linearizations of the
// two sides can be joined, as the left one ends in that queue: it has all entries of E and all
// departures before g, and no others. The cut made every interval only narrower.
//
// An entry or a departure that must be on the left but cannot start before t is put on the
// right: the left side then lacks it, and is as illegal as the whole.
//
// The history before begin has been cut off already, with the same proof, and is left out. No
// cut is made at before or later: until then the queue holds all the contenders there are.
func cutQueue(queue []*Contender, size int, begin queueCut, before time.Duration) []queueSegment {
	cuts := queueCuts(queue, size, begin, before)
	segments := make([]queueSegment, len(cuts))
	for i, c := range cuts {
		segments[i].Cut = c
	}
	// first returns the first segment at whose end ok holds; -1 if it held when the first one
	// began.
	first := func(ok func(queueCut) bool) int {
		i, _ := slices.BinarySearchFunc(cuts, true, func(c queueCut, _ bool) int {
			if ok(c) {
				return 1
			}
			return -1
		})
		return i - 1
	}
	add := func(segment, i int, kind byte, call, ret int64) {
		if segment = max(segment, first(func(c queueCut) bool { return call < c.time })); segment < 0 {
			return // cut off
		}
		s := &segments[segment]
		call = max(call, s.Cut.time)
		if segment+1 < len(cuts) {
			ret = min(ret, cuts[segment+1].time)
		}
		s.Ops = append(s.Ops, judge.Operation[QueueStep]{Input: QueueStep{i, kind, queue[i].Granted}, Call: call, Ret: max(call, ret)})
	}
	for i, q := range queue {
		call := judge.Clock(int64(q.Enter))
		add(first(func(c queueCut) bool { return i < c.entered }), i, Enter, call, judge.Clock(int64(q.Place.Time)))
		if q.Granted {
			ret := judge.Clock(int64(q.Op.Ret))
			add(first(func(c queueCut) bool { return ret < c.time || i < c.granted }), i, Grant, call, ret)
		}
		add(first(func(c queueCut) bool { return i < c.granted }), i, Leave, judge.Clock(int64(q.Stays)), judge.Never)
	}
	return segments
}

// queueCuts returns the cuts of a queue, from begin on: the instants right after grants, each
// about size steps after the one before, and none at before or later.
func queueCuts(queue []*Contender, size int, begin queueCut, before time.Duration) []queueCut {
	byEntry := make([]int, len(queue))
	var byGrant []int
	for i, q := range queue {
		byEntry[i] = i
		if q.Granted {
			byGrant = append(byGrant, i)
		}
	}
	slices.SortFunc(byEntry, func(a, b int) int { return cmp.Compare(queue[a].Place.Time, queue[b].Place.Time) })
	slices.SortFunc(byGrant, func(a, b int) int { return cmp.Compare(queue[a].Op.Ret, queue[b].Op.Ret) })

	cuts := []queueCut{begin}
	now := begin
	for n, e, last := 0, 0, 0; n < len(byGrant); n++ {
		ret := queue[byGrant[n]].Op.Ret
		if ret >= before {
			break
		}
		now.granted = max(now.granted, byGrant[n])
		now.time = judge.Clock(int64(ret)) + 1
		if 3*(n+1-last) < size || n+1 < len(byGrant) && queue[byGrant[n+1]].Op.Ret == ret || now.time <= begin.time {
			continue
		}
		last = n + 1
		for ; e < len(byEntry) && judge.Clock(int64(queue[byEntry[e]].Place.Time)) < now.time; e++ {
			now.entered = max(now.entered, byEntry[e]+1)
		}
		cuts = append(cuts, now)
	}
	return cuts
}
