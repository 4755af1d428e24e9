package facts

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Op is one operation.
type Op struct {
	Process    int
	By         *Process
	Kind       histories.Op
	Lock       string
	info       *LockInfo // of the lock
	Part       int       // of an operation over several locks, 0 for the first lock
	Parts      int       // the number of locks of an operation over several; 0 for an operation over one
	Mode       histories.Mode
	Owner      string
	Store      string
	Invoke     int // event index
	Done       int // event index, or -1
	Call       time.Duration
	Ret        time.Duration  // forever when unanswered
	Result     histories.Type // "" when unanswered
	Depth      int
	Permits    int // of a semaphore
	Size       int // for set-size
	Generation int // of a round of a double barrier
	Value      int64
	Token      histories.Token
	Session    string

	alone [1]*Op // itself

	Places []Place // for acquires: the places that enqueued events reported while it was open
	Hold   *Hold   // the hold of a read or write, or the one that an acquire began
	Beside *Hold   // for acquires of a read/write lock: the hold of its owner in the other mode
	Again  *Hold   // for acquires: the hold that its owner had already
	filed  *ownership
	more   *seldom

	// The flags stand together to save memory, as there are many operations.
	unnamed bool // its invocation named no owner
	Told    bool // its process was told of the loss of its hold while it was under way
	Gone    bool // its process crashed before it was answered
	Stale   bool // a read or write of a process that had been told of its loss
	shared  bool // another operation of the same owner on the same lock was open meanwhile
	Refused bool // it was refused because the lock was taken
	Mixed   bool // it is of several locks, one of which has no queue of tokens: the others are given back if they are lost while it waits for that
}

// seldom holds what few operations have.
type seldom struct {
	began string // the session in which it began, if it ended in another
	why   string // the error of its answer
	late  time.Duration
	odd   bool // its failure is unexplained
}

func (o *Op) seldom() *seldom {
	if o.more == nil {
		o.more = new(seldom)
	}
	return o.more
}

// began returns the session in which the operation began, "" if it ended in it.
func (o *Op) began() string {
	if o.more == nil {
		return ""
	}
	return o.more.began
}

// Late returns the time from the end of the call's context to the answer, 0 if the context went on.
func (o *Op) Late() time.Duration {
	if o.more == nil {
		return 0
	}
	return o.more.late
}

// Unexplained reports whether the error of the answer gives no reason that the run knows, and the
// context of the call had not ended.
func (o *Op) Unexplained() bool { return o.more != nil && o.more.odd }

// Why returns the error of the answer, "" if it had none.
func (o *Op) Why() string {
	if o.more == nil {
		return ""
	}
	return o.more.why
}

// Place is a place in a queue, as it was reported to an acquire.
type Place struct {
	Event    int
	Time     time.Duration
	Token    histories.Token
	Sequence int // orders places without a token
	Session  string
}

// newOp returns one part of the operation that e, an invocation, begins.
func newOp(i int, e *histories.Event, part int, p *Process) *Op {
	o := &Op{
		Process: e.Process, By: p, Kind: e.Op, Lock: e.Lock, Part: part, Parts: len(e.Parts), Mode: e.Mode, Owner: e.Owner, Store: e.Store,
		Invoke: i, Done: -1, Call: e.Time, Ret: Forever,
		Depth: e.Depth, Permits: max(e.Permits, 1), Size: e.Size, Generation: e.Generation, Value: e.Value, Token: e.Token, Session: e.Session,
	}
	if e.Parts != nil {
		o.Lock, o.Token = e.Parts[part].Lock, e.Parts[part].Token
	}
	if o.Owner == "" {
		o.Owner, o.unnamed = p.owner, true
	}
	return o
}

// Recipe returns the recipe of the operation's lock.
func (o *Op) Recipe() histories.Recipe { return o.info.Recipe }

// Info returns the facts of the operation's lock.
func (o *Op) Info() *LockInfo { return o.info }

// Acquires reports whether o asks for a lock.
func (o *Op) Acquires() bool { return o.Kind == histories.Acquire || o.Kind == histories.TryAcquire }

// OK reports whether o was answered ok: it did what was asked.
func (o *Op) OK() bool { return o.Result == histories.OK }

// Passes reports whether o asks to pass a barrier.
func (o *Op) Passes() bool {
	return o.Kind == histories.Wait || o.Kind == histories.Enter || o.Kind == histories.Leave
}

// Progresses reports whether o, answered ok, counts as progress: it acquires a lock or passes a
// barrier.
func (o *Op) Progresses() bool {
	return o.Acquires() || o.Kind == histories.Wait || o.Kind == histories.Leave
}

// Reads reports whether o acquires a read/write lock to read, or belongs to such a hold.
func (o *Op) Reads() bool { return o.Mode == histories.ModeRead }

// ChangedSession reports whether an acquire continued in another session. The nodes that it
// created in the first may still exist for a while: only its client took that session for
// ended, see SessionLog.LivedOn.
func (o *Op) ChangedSession() bool {
	return o.began() != "" || slices.ContainsFunc(o.Places, func(p Place) bool { return p.Session != "" && p.Session != o.Session })
}

// Was reports whether an acquire used a session at some time.
func (o *Op) Was(session string) bool {
	return o.Session == session || o.began() == session || slices.ContainsFunc(o.Places, func(p Place) bool { return p.Session == session })
}

// Sessions returns the sessions that an operation is known to have used.
func (o *Op) Sessions() []string {
	all := []string{o.Session}
	for _, p := range o.Places {
		if !slices.Contains(all, p.Session) {
			all = append(all, p.Session)
		}
	}
	if first := o.began(); first != "" && !slices.Contains(all, first) {
		all = append(all, first)
	}
	return all
}

// LastPlace returns the last place that was reported to an acquire, if it has a token.
func (o *Op) LastPlace() (Place, bool) {
	if len(o.Places) == 0 || o.Places[len(o.Places)-1].Token == (histories.Token{}) {
		return Place{}, false
	}
	return o.Places[len(o.Places)-1], true
}

// held reports whether o acquires, releases or uses a hold of its owner.
func (o *Op) held() bool {
	return o.Acquires() || o.Kind == histories.Release || o.Kind == histories.Read || o.Kind == histories.Write
}

func (o *Op) complete(i int, e *histories.Event) {
	o.Done, o.Ret, o.Result, o.Refused = i, e.Time, e.Type, e.Refused
	if e.Error != "" {
		o.seldom().why = e.Error
	}
	if e.Late > 0 {
		o.seldom().late = e.Late
	}
	if e.Unexplained {
		o.seldom().odd = true
	}
	if e.Owner != "" {
		o.Owner = e.Owner
	}
	if e.Depth != 0 {
		o.Depth = e.Depth
	}
	if e.Parts != nil {
		o.Token = e.Parts[o.Part].Token
	} else if e.Token != (histories.Token{}) {
		o.Token = e.Token
	}
	if e.Session != "" {
		if o.Session != "" && o.Session != e.Session {
			o.seldom().began = o.Session
		}
		o.Session = e.Session
	}
	if o.Kind == histories.Read || e.Value != 0 {
		o.Value = e.Value
	}
}

// LocksOf returns the locks that e names.
func LocksOf(e *histories.Event) []string {
	if e.Parts == nil {
		return []string{e.Lock}
	}
	var locks []string
	for _, p := range e.Parts {
		locks = append(locks, p.Lock)
	}
	return locks
}
