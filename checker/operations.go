package checker

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// op is one operation.
type op struct {
	process    int
	by         *process
	kind       histories.Op
	lock       string
	info       *lockInfo // of the lock
	part       int       // of an operation over several locks: 0 is the first
	parts      int       // how many locks an operation over several names; 0 of one over one
	mode       histories.Mode
	owner      string
	store      string
	invoke     int // event index
	done       int // event index, or -1
	call       time.Duration
	ret        time.Duration  // forever when unanswered
	result     histories.Type // "" when unanswered
	depth      int
	permits    int // of a semaphore
	size       int // for set-size
	generation int // of a round of a double barrier
	value      int64
	token      histories.Token
	session    string
	began      string // the session in which it began; "" if that is the one in which it came to its end

	alone      [1]*op   // itself
	firstPlace [1]place // what places begins with

	places []place // for acquires: what enqueued said while it was open
	hold   *hold   // for reads and writes, and acquires that began one: the hold it belongs to
	beside *hold   // for acquires of a read/write lock: what its owner holds in the other mode
	again  *hold   // for acquires: what its owner held already
	filed  *ownership
	why    string // the error it was answered with

	// Together, as there are many operations.
	unnamed bool // its invocation named no owner
	told    bool // of the loss of its hold, while it was under way
	gone    bool // its process crashed before it was answered
	stale   bool // a read or write of a process that had been told of its loss
	shared  bool // another operation of the same owner on the same lock was open meanwhile
	refused bool // its answer says that the lock was taken
}

type place struct {
	event   int
	time    time.Duration
	token   histories.Token
	session string
}

// newOp returns one part of the operation that e, an invocation, begins.
func newOp(i int, e *histories.Event, part int, p *process) *op {
	o := &op{
		process: e.Process, by: p, kind: e.Op, lock: e.Lock, part: part, parts: len(e.Parts), mode: e.Mode, owner: e.Owner, store: e.Store,
		invoke: i, done: -1, call: e.Time, ret: forever,
		depth: e.Depth, permits: max(e.Permits, 1), size: e.Size, generation: e.Generation, value: e.Value, token: e.Token, session: e.Session,
	}
	if e.Parts != nil {
		o.lock, o.token = e.Parts[part].Lock, e.Parts[part].Token
	}
	if o.owner == "" {
		o.owner, o.unnamed = p.owner, true
	}
	o.places = o.firstPlace[:0]
	return o
}

// recipe is that of its lock.
func (o *op) recipe() histories.Recipe { return o.info.recipe }

func (o *op) acquires() bool { return o.kind == histories.Acquire || o.kind == histories.TryAcquire }
func (o *op) ok() bool       { return o.result == histories.OK }

// passes reports whether o asks to pass a barrier.
func (o *op) passes() bool {
	return o.kind == histories.Wait || o.kind == histories.Enter || o.kind == histories.Leave
}

// progresses reports whether o, answered ok, is what progress is made of: a
// lock acquired, or a barrier passed.
func (o *op) progresses() bool {
	return o.acquires() || o.kind == histories.Wait || o.kind == histories.Leave
}

// reads reports whether o asks for a read/write lock, or is of a hold of one, to read.
func (o *op) reads() bool { return o.mode == histories.ModeRead }

// changedSession reports whether an acquire went on in another session. What it made in
// the first may be there for a while: for its client that one had ended, see livedOn.
func (o *op) changedSession() bool {
	return o.began != "" || slices.ContainsFunc(o.places, func(p place) bool { return p.session != "" && p.session != o.session })
}

// was reports whether an acquire was in a session at some time.
func (o *op) was(session string) bool {
	return o.session == session || o.began == session || slices.ContainsFunc(o.places, func(p place) bool { return p.session == session })
}

// lastPlace returns the last place that an acquire was told, if it has a token.
func (o *op) lastPlace() (place, bool) {
	if len(o.places) == 0 || o.places[len(o.places)-1].token == (histories.Token{}) {
		return place{}, false
	}
	return o.places[len(o.places)-1], true
}

// held reports whether o is about what its owner holds.
func (o *op) held() bool {
	return o.acquires() || o.kind == histories.Release || o.kind == histories.Read || o.kind == histories.Write
}

func (o *op) complete(i int, e *histories.Event) {
	o.done, o.ret, o.result, o.why, o.refused = i, e.Time, e.Type, e.Error, e.Refused
	if e.Owner != "" {
		o.owner = e.Owner
	}
	if e.Depth != 0 {
		o.depth = e.Depth
	}
	if e.Parts != nil {
		o.token = e.Parts[o.part].Token
	} else if e.Token != (histories.Token{}) {
		o.token = e.Token
	}
	if e.Session != "" {
		if o.session != "" && o.session != e.Session {
			o.began = o.session
		}
		o.session = e.Session
	}
	if o.kind == histories.Read || e.Value != 0 {
		o.value = e.Value
	}
}

// locksOf returns the locks that e is about.
func locksOf(e *histories.Event) []string {
	if e.Parts == nil {
		return []string{e.Lock}
	}
	var locks []string
	for _, p := range e.Parts {
		locks = append(locks, p.Lock)
	}
	return locks
}
