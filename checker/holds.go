package checker

import (
	"time"

	"github.com/zkverify/zkverify/histories"
)

// hold is one belief: from the moment an outermost acquire returned to the
// moment its owner knew better.
type hold struct {
	lock, owner, session string
	info                 *lockInfo // of the lock
	by                   *process
	mode                 histories.Mode
	process              int
	permits              int // of a semaphore
	token                histories.Token
	call, start, end     time.Duration // acquire invoked, acquire returned, belief ended
	acquire              *op
	released             time.Duration // when the release was answered ok; forever otherwise
	why                  ending
	closed               bool // it was given back by closing the client
	endEvent             int  // index of the event that ended it, or -1
	inner                []innerRelease
	reentries            []*op
	excuses              []span        // when the belief does not count
	cutOff               bool          // its client has said that its link is down
	linked               time.Duration // when its client last said that its link is up again
}

type ending string

const (
	stillHeld  ending = ""
	byRelease  ending = "released"
	byLoss     ending = "lost"
	byCrashing ending = "crashed"
)

type innerRelease struct {
	event int
	time  time.Duration
}

// oddDepth is a re-entry whose depth is not the one above what its owner held.
type oddDepth struct {
	op   *op
	want int
	lost *hold // what its owner had lost, if that is what it has acquired again
}

// leaseKey names a lease.
type leaseKey struct {
	lock  string
	token histories.Token
}

func newHold(o *op) *hold {
	return &hold{
		lock: o.lock, info: o.info, by: o.by, mode: o.mode, owner: o.owner, session: o.session, process: o.process, permits: o.permits, token: o.token,
		call: o.call, start: o.ret, end: forever, released: forever, acquire: o, endEvent: -1,
	}
}

// recipe is that of its lock.
func (h *hold) recipe() histories.Recipe { return h.info.recipe }

// about reports whether a lost event can mean h. One that names no lease means
// whichever its process holds.
func about(e *histories.Event, h *hold) bool {
	none := histories.Token{}
	return (e.Session == "" || h.session == "" || e.Session == h.session) &&
		(e.Token == none || h.token == none || e.Token == h.token) &&
		(e.Owner == "" || e.Owner == h.owner) && e.Mode == h.mode
}
