package histories

import (
	"time"
)

// Saying is a report of a lock's state by the lock itself: an answer to a question, or
// a notice to an observer. A field that is nil or zero was not asked for, or the lock
// does not report it.
type Saying struct {
	// Asked is the time of the question. The report was true at some time from then to
	// the time of the event.
	Asked time.Duration `json:"asked"`

	// Of the lease that the event names.

	Valid *bool          `json:"valid,omitempty"` // is exclusivity guaranteed now?
	Left  *time.Duration `json:"left,omitempty"`  // from Asked to its deadline, which was read after Valid
	Least *time.Duration `json:"least,omitempty"` // of a lease of several locks: from Asked to the earliest deadline of the parts, read after Left
	Firm  bool           `json:"firm,omitempty"`  // the lease is to be kept until that deadline, also when its link breaks
	Depth int            `json:"depth,omitempty"` // 1 is the outermost
	Ended *bool          `json:"ended,omitempty"` // has its context ended?
	State string         `json:"state,omitempty"` // StateHeld and so on; the deadline did not move from before Valid was read until State was read

	// Node is the lock node that the lease names, and Created the transaction that
	// created it, as the servers report it, not the lock.
	Node    string `json:"node,omitempty"`
	Created int64  `json:"created,omitempty"`

	// Of the lock, in the event's mode.

	Held  *bool         `json:"held,omitempty"` // does an owner hold it through this client?
	Queue []Participant `json:"queue,omitzero"` // the contenders in its queue, in order; empty: none

	// Told is a notice that an observer received without asking: ToldAcquired and so on. It is
	// about the lease or, with ToldAcquiring and ToldGaveUp, about the acquire of the lock that
	// the process has under way. The event's error is that of ToldGaveUp.
	Told string `json:"told,omitempty"`

	// Connection is the state of a client's connection to the servers that a listener was
	// told: ConnectionConnected and so on. Client is the number of that client of the
	// run, from 1; the event names no lock.
	Connection string `json:"connection,omitempty"`
	Client     int    `json:"client,omitempty"`
}

// The states of a lease, as the lock reports them.
const (
	StateHeld      = "held"      // exclusive
	StateSuspended = "suspended" // exclusive until its deadline; its link is down
	StateLost      = "lost"
	StateReleased  = "released"
)

// The states of a client's connection to the servers, as a listener is told.
const (
	ConnectionConnected   = "connected" // for the first time
	ConnectionSuspended   = "suspended" // the link is down, and the session may live
	ConnectionReconnected = "reconnected"
	ConnectionLost        = "lost" // the session has ended, or may have
	ConnectionClosed      = "closed"
)

// The notices to observers.
const (
	ToldAcquired = "acquired" // the lease was granted
	ToldLost     = "lost"     // the lease was lost
	ToldReleased = "released" // the lease was released before it was lost

	// A target that tells one of these tells all three.

	ToldAcquiring       = "acquiring"        // the acquire contends from now on
	ToldGaveUp          = "gave-up"          // the acquire that contended ends without a lease
	ToldUnheard         = "unheard"          // the notices of this acquire are not on record: another call of its owner is under way
	ToldRevokeRequested = "revoke-requested" // the holder of the lease was asked to release it, before its listeners are told
)

// Participant is one contender in a lock's queue, as the lock reports it.
type Participant struct {
	Token   Token  `json:"token"` // with which it holds the lock, or will hold it
	Session string `json:"session,omitempty"`
}
