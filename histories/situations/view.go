package situations

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
)

// moment is the length of time in which two things happen at once. A message takes longer than half
// of it.
const moment = time.Millisecond

// view is the state of a run before the event, request or change that a detector is shown.
type view struct {
	header    *histories.Header
	tracker   *states.Tracker
	holds     map[string][]*states.Hold // by lock; those that were lost are among them until they are released
	open      map[int]*opened           // by process
	inForce   map[int]*fault            // by id
	suspended map[int]bool              // by process: the link of its lease is down
	sessions  map[string]*session       // those that clients have had
	changes   []Change                  // the latest, in order
	nodes     map[string]string         // the nodes of sessions that exist, by path: the session
}

// opened is an operation under way.
type opened struct {
	op     histories.Op
	lock   string // the first of several
	depth  int
	since  time.Duration
	placed bool // its acquire has reported a place
}

// fault is a fault in force.
type fault struct {
	histories.Fault
	since   time.Duration
	servers []int
}

// session is the state of a session, as far as it is known.
type session struct {
	process int // the last that was seen to have it, -1 for none
	server  int // to which it connected last, 0 if that is not known
	clients []string
	ended   bool
}

func newView(h *histories.Header) view {
	return view{
		header: h, tracker: states.NewTracker(h), holds: map[string][]*states.Hold{}, open: map[int]*opened{}, inForce: map[int]*fault{},
		suspended: map[int]bool{}, sessions: map[string]*session{}, nodes: map[string]string{},
	}
}

func (v *view) session(id string) *session {
	s := v.sessions[id]
	if s == nil {
		s = &session{process: -1}
		v.sessions[id] = s
	}
	return s
}

// client returns the number that all processes of a client share.
func (v *view) client(process int) int {
	if v.header.Clients > 0 {
		return process % v.header.Clients
	}
	return process
}

// heartbeat is the time between two beats of a session.
func (v *view) heartbeat() time.Duration { return v.header.SessionTimeout / 6 }

func (v *view) event(e *histories.Event) {
	v.hold(e)
	switch e.Type {
	case histories.FaultStart:
		v.inForce[e.Fault.ID] = &fault{*e.Fault, e.Time, e.Fault.Servers()}
	case histories.FaultStop:
		delete(v.inForce, e.Fault.ID)
	case histories.Invoke:
		v.open[e.Process] = &opened{op: e.Op, lock: locksOf(e)[0].Lock, depth: e.Depth, since: e.Time}
	case histories.Enqueued:
		if o := v.open[e.Process]; o != nil {
			o.placed = true
		}
	case histories.OK, histories.Fail, histories.Info, histories.Crash:
		delete(v.open, e.Process)
	case histories.Expired:
		v.session(e.Session).ended = true
	}
	switch e.Type {
	case histories.Suspended:
		v.suspended[e.Process] = true
	case histories.Resumed, histories.Lost, histories.Crash:
		delete(v.suspended, e.Process)
	}
	if e.Session != "" && e.Process >= 0 {
		v.session(e.Session).process = e.Process
	}
}

// hold follows the holds of locks.
func (v *view) hold(e *histories.Event) {
	for _, c := range v.tracker.Step(e) {
		switch c.Kind {
		case states.Began:
			v.holds[c.Lock] = append(v.holds[c.Lock], c.Hold)
		case states.Ended:
			v.holds[c.Lock] = slices.DeleteFunc(v.holds[c.Lock], func(h *states.Hold) bool { return h == c.Hold })
		}
	}
	if e.Type == histories.Crash || e.Type == histories.Info {
		for lock := range v.holds {
			v.holds[lock] = slices.DeleteFunc(v.holds[lock], func(h *states.Hold) bool { return h.Process == e.Process })
		}
	}
}

// held returns the hold of a lock by a process that was not told of a loss, nil if there is none.
func (v *view) held(process int, lock string) *states.Hold {
	for _, h := range v.holds[lock] {
		if h.Process == process && !h.Lost {
			return h
		}
	}
	return nil
}

// opens reports whether a process has such an operation under way.
func (v *view) opens(process int, ops ...histories.Op) bool {
	o := v.open[process]
	return o != nil && slices.Contains(ops, o.op)
}

// clientCuts are the faults that keep a client from all its servers, or from one.
var clientCuts = []string{"down", "black-hole", "requests-lost", "replies-lost", "reset"}

// serverCuts are the faults that cut off a server from the others.
var serverCuts = []string{"isolate-server", "isolate-leader", "isolate-holder-follower", "partition"}

// cut reports whether a fault in force cuts off a process, or the server that it is connected to.
func (v *view) cut(process int) bool {
	return v.faulted(process, func(f *fault) bool {
		return slices.Contains(clientCuts, f.Name) || slices.Contains(serverCuts, f.Name)
	})
}

// paused reports whether a fault in force pauses a process.
func (v *view) paused(process int) bool {
	return v.faulted(process, func(f *fault) bool { return f.Name == histories.WorkerPause })
}

// faulted reports whether such a fault in force names a process.
func (v *view) faulted(process int, such func(*fault) bool) bool {
	for _, f := range v.inForce {
		if such(f) && slices.Contains(f.Processes, process) {
			return true
		}
	}
	return false
}

func (v *view) call(c *Call) {
	s := v.session(c.Session)
	if c.Op == Connect && c.Answered || s.server == 0 {
		s.server = c.Server
	}
	if !slices.Contains(s.clients, c.Client) {
		s.clients = append(s.clients, c.Client)
	}
}

// changesKept is the number of the latest changes that a view keeps.
const changesKept = 512

func (v *view) change(c *Change) {
	switch {
	case c.Op == Create && c.Own:
		v.nodes[c.Path] = c.Session
	case c.Op == Delete:
		delete(v.nodes, c.Path)
	case c.Op == "":
		v.session(c.Session).ended = true
	}
	if len(v.changes) == 2*changesKept {
		v.changes = append(v.changes[:0], v.changes[changesKept:]...)
	}
	v.changes = append(v.changes, *c)
}

// lastBefore returns the last transaction that was applied by a time, 0 if none is known.
func (v *view) lastBefore(at time.Duration) int64 {
	for i := len(v.changes) - 1; i >= 0; i-- {
		if v.changes[i].At <= at {
			return v.changes[i].Zxid
		}
	}
	return 0
}

// between reports whether a change of a node of a lock took place behind one transaction, and at
// another at the latest.
func (v *view) between(after, upTo int64, such func(*Change) bool) bool {
	for i := len(v.changes) - 1; i >= 0 && v.changes[i].Zxid > after; i-- {
		if v.changes[i].Zxid <= upTo && such(&v.changes[i]) {
			return true
		}
	}
	return false
}

// recipe returns the recipe of the lock to which a node belongs, "" for another node.
func (v *view) recipe(path string) histories.Recipe {
	if key := lockOf(path); key != "" {
		return v.header.RecipeOf(key)
	}
	return ""
}

// acquired reports whether an event completes an acquire that is no re-entry.
func acquired(e *histories.Event) bool {
	return e.Type == histories.OK && e.Depth <= 1 && (e.Op == histories.Acquire || e.Op == histories.TryAcquire)
}

// releases reports whether an event calls the outermost release.
func releases(e *histories.Event) bool {
	return e.Type == histories.Invoke && e.Op == histories.Release && e.Depth <= 1
}

// locksOf returns the locks of an event.
func locksOf(e *histories.Event) []histories.Part {
	if e.Parts != nil {
		return e.Parts
	}
	return []histories.Part{{Lock: e.Lock, Token: e.Token}}
}

// lately has the last time of things, by name.
type lately map[string]time.Duration

// happened reports whether something of this name was noted a moment before now at most.
func (l lately) happened(name string, now time.Duration) bool {
	at, known := l[name]
	return known && now-at <= moment
}
