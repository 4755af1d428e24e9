package checker

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/explain"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// gathering collects the events of an excerpt while a history is read.
type gathering struct {
	facts.Deaf
	t      *facts.Trace
	w      verdict.Witness
	around int

	points []int // indices of the violation's events, in order
	times  []time.Duration
	until  int // the index up to which all events are kept because of a time of the violation
	within bool

	recent  []*facts.Op // the last operations, in a ring
	ops     map[*facts.Op]bool
	holds   map[*facts.Hold]bool
	had     map[lockOf]*had // the last hold of each party, by process and lock
	by      map[int]bool    // the processes of ops and holds
	invokes map[int]bool    // the invocations of the parties
	parties map[int]bool    // the processes of the parties
	keep    map[int]bool
	near    []nearEvent // the nearest events of the same lock
	last    int         // the index of the last event
	lastOp  *facts.Op   // the last operation that an event was about
	since   int
}

type lockOf struct {
	process int
	lock    string
}

// had is the last hold of a process on a lock, with the operation that released it.
type had struct {
	hold    *facts.Hold
	read    *facts.Op
	release *facts.Op
}

type nearEvent struct {
	i    int
	away time.Duration
}

func newGathering(t *facts.Trace, w verdict.Witness, around int) *gathering {
	g := &gathering{
		t: t, w: w, around: around, until: -1, last: -1, times: []time.Duration{w.From, w.To}, recent: make([]*facts.Op, around),
		ops: map[*facts.Op]bool{}, holds: map[*facts.Hold]bool{}, had: map[lockOf]*had{}, by: map[int]bool{}, invokes: map[int]bool{}, parties: map[int]bool{}, keep: map[int]bool{},
	}
	for _, p := range w.Parties {
		g.points = append(g.points, p.Invoke, p.Event)
		g.invokes[p.Invoke], g.parties[p.Process] = true, true
	}
	slices.Sort(g.points)
	g.points = slices.Compact(g.points)
	t.Listen(g)
	return g
}

// read takes in the next event.
func (g *gathering) read(i int, e *histories.Event, window int) {
	if g.since++; g.since >= window && e.Time > g.t.End {
		g.since = 0
		g.t.DiscardSettled()
	}
	g.last = i
	for len(g.times) > 0 && e.Time >= g.times[0] {
		g.times, g.until = g.times[1:], i+g.around
		for _, o := range g.recent {
			g.touch(o)
		}
	}
	for len(g.points) > 0 && g.points[0]+g.around < i {
		g.points = g.points[1:]
	}
	was := g.within
	g.within = i <= g.until || len(g.points) > 0 && g.points[0]-g.around <= i
	if g.within && !was {
		for _, p := range g.t.Processes {
			for _, o := range p.Open {
				g.touch(o)
			}
			for h := range p.Holds.All() {
				g.touchHold(h)
			}
		}
	}
	g.t.Step(e)
}

// touch adds an operation and its hold to the excerpt.
func (g *gathering) touch(o *facts.Op) {
	if o != nil && !g.ops[o] {
		g.ops[o], g.by[o.Process] = true, true
		g.touchHold(o.Hold)
	}
}

func (g *gathering) touchHold(h *facts.Hold) {
	if h == nil || g.holds[h] {
		return
	}
	g.holds[h] = true
	g.touch(h.Acquire)
	if had := g.had[lockOf{h.Process, h.Lock}]; had != nil && had.hold == h {
		g.touch(had.release)
	}
}

// Event keeps rare events, events near the violation, and events about an operation or a hold
// of the excerpt.
func (g *gathering) Event(i int, e *histories.Event) {
	if explain.Near(e, g.w) {
		g.isNear(nearEvent{i, explain.Away(e, g.w)})
	}
	switch e.Type {
	case histories.Invoke, histories.OK, histories.Fail, histories.Info, histories.Enqueued:
		// Kept with their operations.
	case histories.FaultStart, histories.FaultStop, histories.Stalled, histories.PhaseStart, histories.CensusDone, histories.Expired:
		g.keep[i] = true
	case histories.Lost, histories.Suspended, histories.Resumed, histories.Crash, histories.Closing, histories.Closed:
		if g.within || g.by[e.Process] {
			g.keep[i] = true
		}
	default:
		if g.within {
			g.keep[i] = true
		}
	}
}

// isNear keeps the nearest events, twice as many as a story has, since some of them may be in
// the story for another reason.
func (g *gathering) isNear(e nearEvent) {
	const most = 2 * explain.MaxStory
	if n := len(g.near); n == most && g.near[n-1].away <= e.away {
		return
	}
	at, _ := slices.BinarySearchFunc(g.near, e.away, func(a nearEvent, away time.Duration) int {
		if a.away <= away {
			return -1
		}
		return 1
	})
	g.near = slices.Insert(g.near, at, e)
	g.near = g.near[:min(len(g.near), most)]
}

// Invoked adds to the excerpt the operations around the violation, the releases of its holds,
// and those that change the size or state of the lock.
func (g *gathering) Invoked(o *facts.Op) {
	g.lastOp = o
	party := g.invokes[o.Invoke]
	switch {
	case g.within, g.holds[o.Hold] && o.Kind == histories.Release, party:
		g.touch(o)
	case o.Lock == g.w.Lock && (o.Kind == histories.SetSize || o.Kind == histories.Set || o.Kind == histories.Remove):
		g.touch(o)
	}
	if len(g.recent) > 0 {
		g.recent[o.Invoke%len(g.recent)] = o
	}
	had := g.had[lockOf{o.Process, o.Lock}]
	if had == nil {
		return
	}
	if party {
		g.touchHold(had.hold)
		g.touch(had.read)
	}
	if o.Kind == histories.Release && o.Hold == had.hold {
		had.release = o
	}
}

// Completed records the last hold and read of each party.
func (g *gathering) Completed(o *facts.Op) {
	g.lastOp = o
	if g.ops[o] {
		g.touchHold(o.Hold)
	}
	if !o.OK() || o.Hold == nil || !g.parties[o.Process] {
		return
	}
	key := lockOf{o.Process, o.Lock}
	switch {
	case o.Acquires():
		g.had[key] = &had{hold: o.Hold}
	case o.Kind == histories.Read && g.had[key] != nil:
		g.had[key].read = o
	}
}

// Placed records the operation as the last one that an event was about.
func (g *gathering) Placed(o *facts.Op) { g.lastOp = o }

// finish completes the set of kept events when all events have been read.
func (g *gathering) finish() {
	if g.last >= 0 {
		g.keep[g.last] = true
	}
	g.touch(g.lastOp) // the last event may be of it
	for o := range g.ops {
		g.keep[o.Invoke] = true
		if o.Done >= 0 {
			g.keep[o.Done] = true
		}
		for _, p := range o.Places {
			g.keep[p.Event] = true
		}
	}
	for h := range g.holds {
		if h.EndEvent >= 0 {
			g.keep[h.EndEvent] = true
		}
	}
}

// indices returns the indices of the events of the excerpt, in order.
func (g *gathering) indices() []int {
	var all []int
	for i := range g.keep {
		all = append(all, i)
	}
	for _, e := range g.near {
		all = append(all, e.i)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
