package facts

import (
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Hold is one belief: from the return of an outermost acquire to the moment when its owner
// learned that it had ended.
type Hold struct {
	Lock, Owner, Session string
	info                 *LockInfo // of the lock
	By                   *Process
	Mode                 histories.Mode
	Process              int
	Permits              int // of a semaphore
	Token                histories.Token
	Call, Start, End     time.Duration // acquire invoked, acquire returned, belief ended
	Acquire              *Op
	Released             time.Duration // when the release was answered ok; forever otherwise
	EndEvent             int           // index of the event that ended it, or -1
	Excuses              []Span        // the times in which the belief does not count

	links       [2]link
	permitLinks *[5]link
	more        *meanwhile // nil: none of it happened

	// These stand together to save memory, as there are many holds.
	Why    ending
	Closed bool // it was given back by closing the client
}

// meanwhile records what happened to a hold while it went on. Most holds have no such record.
type meanwhile struct {
	inner     []InnerRelease
	reentries []*Op
	outages   []Span // the times in which its link was down, by its client's reports
}

// Inner returns the releases of re-entries, in order.
func (h *Hold) Inner() []InnerRelease {
	if h.more == nil {
		return nil
	}
	return h.more.inner
}

// Reentries returns the acquires that entered the hold again, in order.
func (h *Hold) Reentries() []*Op {
	if h.more == nil {
		return nil
	}
	return h.more.reentries
}

func (h *Hold) outages() []Span {
	if h.more == nil {
		return nil
	}
	return h.more.outages
}

// meanwhile returns the record of what happens to the hold, to add to it.
func (h *Hold) meanwhile() *meanwhile {
	if h.more == nil {
		h.more = new(meanwhile)
	}
	return h.more
}

type ending byte

const (
	StillHeld ending = iota
	ByRelease
	ByLoss
	ByCrashing
)

// String returns the ending in a word, "" while the hold goes on.
func (e ending) String() string { return [...]string{"", "released", "lost", "crashed"}[e] }

// InnerRelease is the release of a re-entry: the owner still holds the lock.
type InnerRelease struct {
	event int
	Time  time.Duration
}

// OddDepth is a re-entry whose depth is not one more than the depth of its owner's hold.
type OddDepth struct {
	Op   *Op
	Want int
	Lost *Hold // the lost hold, if its owner re-enters a lock that it had lost
}

// LeaseKey identifies a lease.
type LeaseKey struct {
	Lock  string
	Token histories.Token
}

func newHold(o *Op) *Hold {
	return &Hold{
		Lock: o.Lock, info: o.info, By: o.By, Mode: o.Mode, Owner: o.Owner, Session: o.Session, Process: o.Process, Permits: o.Permits, Token: o.Token,
		Call: o.Call, Start: o.Ret, End: Forever, Released: Forever, Acquire: o, EndEvent: -1,
	}
}

// ReachableFrom returns the earliest time from which the holder could be told of an event at
// the time at: at itself, or the time when its link came up again if the link went down less
// than bound after that, and so on; forever if it has not come up again. A link that breaks
// again and again may carry no message in between.
func (h *Hold) ReachableFrom(at, bound time.Duration) time.Duration {
	for _, down := range h.outages() {
		if down.From <= After(at, bound) {
			at = max(at, down.To)
		}
	}
	return at
}

// Recipe returns the recipe of the hold's lock.
func (h *Hold) Recipe() histories.Recipe { return h.info.Recipe }

// Info returns the facts of the hold's lock.
func (h *Hold) Info() *LockInfo { return h.info }

// about reports whether a lost event can mean h. An event that names no lease can mean any hold
// of its process on the lock.
func about(e *histories.Event, h *Hold) bool {
	none := histories.Token{}
	return (e.Session == "" || h.Session == "" || e.Session == h.Session) &&
		(e.Token == none || h.Token == none || e.Token == h.Token) &&
		(e.Owner == "" || e.Owner == h.Owner) && e.Mode == h.Mode
}
