package histories

import (
	"time"
)

// Saying is what a lock says of itself: an answer to a question, or what it told
// an observer. Fields that are nil or zero were not asked for, or the lock does
// not say.
type Saying struct {
	// Asked is when it was asked. What it says was so at some time from then to the
	// time of the event.
	Asked time.Duration `json:"asked"`

	// Of the lease that the event names.

	Valid *bool          `json:"valid,omitempty"` // is exclusivity guaranteed now?
	Left  *time.Duration `json:"left,omitempty"`  // from Asked to its deadline, which was read after Valid
	Least *time.Duration `json:"least,omitempty"` // of a lease of several locks: from Asked to the earliest deadline of the parts, read after Left
	Depth int            `json:"depth,omitempty"` // 1 is the outermost
	Ended *bool          `json:"ended,omitempty"` // has its context ended?
	State string         `json:"state,omitempty"` // how it stands: StateHeld and so on; its deadline did not move from before Valid was read until State was

	// Node is the lock node that the lease names, and Created the transaction that
	// created it: that is said by the servers, not by the lock.
	Node    string `json:"node,omitempty"`
	Created int64  `json:"created,omitempty"`

	// Of the lock, in the event's mode.

	Held  *bool         `json:"held,omitempty"` // does anybody hold it through this client?
	Queue []Participant `json:"queue,omitzero"` // who stands in its queue, the first one first; empty: nobody

	// Told is what an observer was told of the lease, without having asked:
	// ToldAcquired, ToldLost or ToldReleased.
	Told string `json:"told,omitempty"`

	// Connection is what a listener was told of how a client of the target stands with
	// the servers: ConnectionConnected and so on. Client says which client of the run's
	// that was, from 1 on; the event names no lock.
	Connection string `json:"connection,omitempty"`
	Client     int    `json:"client,omitempty"`
}

// How a lease says that it stands.
const (
	StateHeld      = "held"      // exclusive
	StateSuspended = "suspended" // exclusive until its deadline; its link is down
	StateLost      = "lost"
	StateReleased  = "released"
)

// How a client of the target tells that it stands with the servers.
const (
	ConnectionConnected   = "connected" // for the first time
	ConnectionSuspended   = "suspended" // the link is down, and the session may live
	ConnectionReconnected = "reconnected"
	ConnectionLost        = "lost" // the session has ended, or may have
	ConnectionClosed      = "closed"
)

// What observers are told.
const (
	ToldAcquired = "acquired" // the lease was granted
	ToldLost     = "lost"     // it was lost
	ToldReleased = "released" // it was given back before it was lost
)

// Participant is one contender in a lock's queue, as the lock tells of it.
type Participant struct {
	Token   Token  `json:"token"` // that it holds the lock with, or will
	Session string `json:"session,omitempty"`
}
