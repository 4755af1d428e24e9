package facts

import (
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Hold is one belief: from the moment an outermost acquire returned to the
// moment its owner knew better.
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
	Why                  ending
	Closed               bool // it was given back by closing the client
	EndEvent             int  // index of the event that ended it, or -1
	Inner                []InnerRelease
	Reentries            []*Op
	Excuses              []Span // when the belief does not count
	outages              []Span // in which its link was down, as its client has said

	links       [2]link
	permitLinks *[5]link
}

type ending string

const (
	StillHeld  ending = ""
	ByRelease  ending = "released"
	ByLoss     ending = "lost"
	ByCrashing ending = "crashed"
)

// InnerRelease is a release of what an owner had acquired again: it holds on.
type InnerRelease struct {
	event int
	Time  time.Duration
}

// OddDepth is a re-entry whose depth is not the one above what its owner held.
type OddDepth struct {
	Op   *Op
	Want int
	Lost *Hold // what its owner had lost, if that is what it has acquired again
}

// LeaseKey names a lease.
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

// ReachableFrom returns from when on its holder could be told of what happened at some time:
// from then, or since its link was up again if it went down less than bound after that, and
// so on; forever if it has not come up again. A link that breaks again and again may carry
// nothing else in between.
func (h *Hold) ReachableFrom(at, bound time.Duration) time.Duration {
	for _, down := range h.outages {
		if down.From <= After(at, bound) {
			at = max(at, down.To)
		}
	}
	return at
}

// Recipe is that of its lock.
func (h *Hold) Recipe() histories.Recipe { return h.info.Recipe }

// Info is what is known of its lock.
func (h *Hold) Info() *LockInfo { return h.info }

// about reports whether a lost event can mean h. One that names no lease means
// whichever its process holds.
func about(e *histories.Event, h *Hold) bool {
	none := histories.Token{}
	return (e.Session == "" || h.Session == "" || e.Session == h.Session) &&
		(e.Token == none || h.Token == none || e.Token == h.Token) &&
		(e.Owner == "" || e.Owner == h.Owner) && e.Mode == h.Mode
}
