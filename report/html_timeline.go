package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
)

// barKind is the kind of a bar: the state of a process with regard to a lock. page/data.js
// has the same list.
type barKind uint8

const (
	waited     barKind = iota // waited, and then got the lock
	inVain                    // waited, and did not get the lock
	unanswered                // waited for an answer that never came
	held
	heldAgain // an inner hold; the amount is its depth
	suspended // held, and the link was down
	afterLoss // told of the loss, not released yet
	releasing
	inside // inside a double barrier
	other  // an operation that neither waits nor holds
	many   // several short bars, merged; the amount counts them, and in a packed bar the place is the share held, in percent
	stale  // held only in the client's belief: the service no longer backs the hold
)

// The flags of a bar.
const (
	flagOpen  = 1 << iota // it had no end when the history ended
	flagRead              // of a read/write lock
	flagWrite             // of a read/write lock
)

// bar is a stretch of time in which a process had one state with regard to one lock.
type bar struct {
	from, to time.Duration
	held     time.Duration // for many: the time in which the lock was held
	token    histories.Token
	process  int32
	owner    int32 // the number of a text, as session, op and note are
	session  int32
	op       int32
	note     int32
	amount   int32 // permits, size or round; for an inner hold the depth
	place    int32 // in the queue: 1 + the contenders ahead; 0 if it is not known
	kind     barKind
	flags    uint8
}

// track holds the bars of the processes of one lane with one lock.
type track struct {
	lock, lane int32
	bars       []bar
}

// timeline converts events to bars.
type timeline struct {
	header  *histories.Header
	clients int // the number of lanes, if the history has the number of clients; else each process has a lane of its own
	texts   *texts
	near    func(from, to time.Duration) bool // reports whether a violation is near: counters are drawn there

	tracker *states.Tracker
	calls   map[int]*call     // open operations, by process
	holds   []*tenure         // current holds, the oldest first
	ended   map[string]string // descriptions of the ends of sessions
	locks   []string
	lockNo  map[string]int32
	lanes   [][]int // the processes of each lane
	laneNo  map[int]int32
	tracks  map[[2]int32]*track
	bars    int
	most    int // the greatest number of bars on a page
	limit   int // the number of bars above which they are thinned out: most, or more if thinning could not reach it
}

// call is an open operation.
type call struct {
	histories.Event
	places map[string]int32
}

func newTimeline(header *histories.Header, s *texts, near func(from, to time.Duration) bool) *timeline {
	clients, err := strconv.Atoi(header.Options["clients"])
	if err != nil || clients < 0 {
		clients = 0
	}
	return &timeline{
		header: header, clients: clients, texts: s, near: near, tracker: states.NewTracker(header), calls: map[int]*call{}, ended: map[string]string{},
		lockNo: map[string]int32{}, laneNo: map[int]int32{}, tracks: map[[2]int32]*track{}, most: maxBars, limit: maxBars,
	}
}

// lane returns the lane of a process. A client whose process is retired goes on as the
// process whose number is larger by the number of clients.
func (t *timeline) lane(process int) int32 {
	if n, ok := t.laneNo[process]; ok {
		return n
	}
	n := int32(len(t.lanes))
	if t.clients > 0 {
		if before, ok := t.laneNo[process-t.clients]; ok {
			n = before
		}
	}
	if int(n) == len(t.lanes) {
		t.lanes = append(t.lanes, nil)
	}
	t.lanes[n] = append(t.lanes[n], process)
	t.laneNo[process] = n
	return n
}

func (t *timeline) lock(name string) int32 {
	n, ok := t.lockNo[name]
	if !ok {
		n = int32(len(t.locks))
		t.locks = append(t.locks, name)
		t.lockNo[name] = n
	}
	return n
}

func (t *timeline) add(lock string, b bar) {
	key := [2]int32{t.lock(lock), t.lane(int(b.process))}
	tr := t.tracks[key]
	if tr == nil {
		tr = &track{lock: key[0], lane: key[1]}
		t.tracks[key] = tr
	}
	tr.bars = append(tr.bars, b)
	if t.bars++; t.bars > t.limit {
		t.thin()
	}
}

// step handles the next event.
func (t *timeline) step(e *histories.Event) {
	if e.Process >= 0 {
		t.lane(e.Process)
	}
	switch e.Type {
	case histories.Invoke:
		c := &call{Event: *e, places: map[string]int32{}}
		c.Parts = slices.Clone(e.Parts)
		t.calls[e.Process] = c
	case histories.OK, histories.Fail, histories.Info:
		t.answered(e)
	case histories.Enqueued:
		if c := t.calls[e.Process]; c != nil {
			c.places[e.Lock] = int32(min(e.Position, 1<<30)) + 1
		}
	case histories.Suspended, histories.Resumed:
		t.link(e)
	case histories.Expired:
		t.expired(e)
	case histories.FaultStop:
		t.forced(e)
	case histories.Crash:
		t.abandon(e.Process, e.Time, 0)
	}
	for _, c := range t.tracker.Step(e) {
		t.changed(c, e)
	}
}

func (t *timeline) answered(e *histories.Event) {
	c := t.calls[e.Process]
	if c == nil {
		return
	}
	delete(t.calls, e.Process)
	note := e.Error
	for i, key := range locksOf(e) {
		b := t.barOf(e, c.Time)
		if i < len(e.Parts) {
			b.token = e.Parts[i].Token
		}
		b.place = c.places[key]
		switch e.Op {
		case histories.Acquire, histories.TryAcquire, histories.Wait, histories.Enter, histories.Leave:
			b.kind = map[histories.Type]barKind{histories.OK: waited, histories.Fail: inVain, histories.Info: unanswered}[e.Type]
		case histories.Release:
			b.kind = releasing
		case histories.Read, histories.Write:
			if !t.near(b.from, b.to) {
				continue
			}
			b.kind, note = other, fmt.Sprintf("%d, %s counter", e.Value, e.Store)
			if e.Error != "" {
				note += ": " + e.Error
			}
		default:
			b.kind = other
		}
		b.note = t.texts.number(note)
		t.add(key, b)
	}
}

// barOf returns a bar with the fields that all bars of an operation, and of the hold that it
// begins, have in common.
func (t *timeline) barOf(e *histories.Event, from time.Duration) bar {
	b := bar{
		from: from, to: e.Time, token: e.Token, process: int32(e.Process), owner: t.texts.number(e.Owner), session: t.texts.number(e.Session),
		op: t.texts.number(string(e.Op)), amount: int32(max(e.Permits, e.Size, e.Generation)),
	}
	switch e.Mode {
	case histories.ModeRead:
		b.flags |= flagRead
	case histories.ModeWrite:
		b.flags |= flagWrite
	}
	return b
}

// abandon ends the open operation of a process, which will have no answer.
func (t *timeline) abandon(process int, at time.Duration, flags uint8) {
	c := t.calls[process]
	if c == nil {
		return
	}
	delete(t.calls, process)
	for _, key := range locksOf(&c.Event) {
		b := t.barOf(&c.Event, c.Time)
		b.to, b.kind, b.place = at, unanswered, c.places[key]
		b.flags |= flags
		t.add(key, b)
	}
}

// end closes the open operations and holds at the end of the history.
func (t *timeline) end(at time.Duration) {
	for _, process := range slices.Sorted(maps.Keys(t.calls)) {
		t.abandon(process, at, flagOpen)
	}
	for _, h := range t.holds {
		t.close(h, at, flagOpen)
	}
}
