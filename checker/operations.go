package checker

import (
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// op is one operation.
type op struct {
	process    int
	by         *process
	kind       histories.Op
	lock       string
	of         *lockInfo
	part       int // of an operation over several locks: 0 is the first
	parts      int // how many locks an operation over several names; 0 of one over one
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
	waited  bool // found out about it: it was served after others, see turns
	passed  bool // and before one that was ahead of it
	told    bool // of the loss of its hold, while it was under way
	gone    bool // its process crashed before it was answered
	stale   bool // a read or write of a process that had been told of its loss
	late    bool // it entered a round of a double barrier after a later one
	shared  bool // another operation of the same owner on the same lock was open meanwhile
}

type place struct {
	event   int
	time    time.Duration
	token   histories.Token
	session string
}

func (o *op) acquires() bool { return o.kind == histories.Acquire || o.kind == histories.TryAcquire }
func (o *op) ok() bool       { return o.result == histories.OK }

// passes reports whether o asks to pass a barrier.
func (o *op) passes() bool {
	return o.kind == histories.Wait || o.kind == histories.Enter || o.kind == histories.Leave
}

// held reports whether o is about what its owner holds.
func (o *op) held() bool {
	return o.acquires() || o.kind == histories.Release || o.kind == histories.Read || o.kind == histories.Write
}

func (o *op) party() Party {
	e := o.done
	if e < 0 {
		e = o.invoke
	}
	return Party{
		Process: o.process, Owner: o.owner, Session: o.session, Token: o.token,
		From: o.call, To: o.ret, Open: o.ret == forever, Event: e, Line: histories.Line(e), Invoke: o.invoke,
	}
}

func (o *op) complete(i int, e *histories.Event) {
	o.done, o.ret, o.result, o.why = i, e.Time, e.Type, e.Error
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

// defaultOwner is the owner of an operation that names none: its process.
func defaultOwner(process int) string { return "process " + strconv.Itoa(process) }

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
