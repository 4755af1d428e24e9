package workload

import (
	"encoding/json"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
)

// What is said between a run and its worker processes, one JSON object a line.
// docs/worker.md tells the same to authors of workers.

// protocolVersion is what the hello of a worker must name.
const protocolVersion = 1

// What a run can ask of a worker, besides the operations of a history that have
// a word there: those of histories.Op.
const (
	doOpen    = "open"        // starts a client
	doCrash   = "crash"       // ends it as its death would
	doClose   = "close"       // ends it in good order
	doReenter = "reenter"     // acquires again, in the name of the owner of Lease
	doValid   = "valid"       // asks a lease
	doEcho    = "echo"        // is answered by a process that runs
	doListen  = "listen"      // wants to know when a lease's holder is asked to release
	doHolder  = "holder"      // asks who holds a lock
	doSet     = "set-guarded" // sets the data of a node while the lease holds its lock
	doCancel  = "cancel"      // ends the context of command Of
	doCensus  = "census"      // asks for goroutines, or threads, that closed clients have left
)

// command is a line to a worker.
type command struct {
	ID     int64            `json:"id"`
	Do     string           `json:"do"`
	Client int              `json:"client"`
	Recipe histories.Recipe `json:"recipe,omitempty"`
	Lock   string           `json:"lock,omitempty"`
	Locks  []string         `json:"locks,omitempty"` // of a multi-lock
	Mode   histories.Mode   `json:"mode,omitempty"`
	// Permits is how many are asked for, Size what a shared semaphore is to have.
	Permits int    `json:"permits,omitempty"`
	Size    int    `json:"size,omitempty"`
	Lease   int64  `json:"lease,omitempty"` // the number of the command that acquired it
	Node    string `json:"node,omitempty"`  // what holder has answered; of set-guarded the node to write
	Data    string `json:"data,omitempty"`  // to write there
	Of      int64  `json:"of,omitempty"`    // the command to cancel
	Env     *where `json:"env,omitempty"`   // for open
}

// where is Env as a line has it.
type where struct {
	Target   string                    `json:"target"` // the name of the lock under test
	Servers  []serverLink              `json:"servers"`
	Timeout  int64                     `json:"session_timeout"` // ms
	Tick     int64                     `json:"tick"`            // ms, 0 when unknown
	Root     string                    `json:"root"`
	Presence string                    `json:"presence"` // where each session keeps its presence node
	Locks    map[string]histories.Lock `json:"locks"`
	Scheme   string                    `json:"scheme,omitempty"` // to authenticate by
	Secret   []byte                    `json:"secret,omitempty"` // for it; it is in no history, log or report
}

func (w where) auth() ensemble.Credentials { return ensemble.NewCredentials(w.Scheme, w.Secret) }

type serverLink struct {
	ID   int    `json:"id"`
	Addr string `json:"addr"`
}

// What a worker says unasked.
const (
	sayHello           = "hello"    // first of all
	saySession         = "session"  // the client's session or link has changed
	sayPresence        = "presence" // a presence node is made
	sayEnqueued        = "enqueued" // Env.Enqueued, of the acquire ID
	saySuspended       = "suspended"
	sayResumed         = "resumed"
	sayLost            = "lost"             // of Lease
	sayRevokeRequested = "revoke-requested" // of Lease
)

// line is one of a worker's: the answer to command ID, or an event.
type line struct {
	At     int64  `json:"at"` // CLOCK_MONOTONIC, ns
	ID     int64  `json:"id,omitempty"`
	Event  string `json:"event,omitempty"`
	Client *int   `json:"client,omitempty"`
	Lease  int64  `json:"lease,omitempty"`

	Protocol int    `json:"protocol,omitempty"` // of hello
	Hosts    *hosts `json:"hosts,omitempty"`    // of hello, from a worker with one lock of its own

	// Error says that the command has failed, Why how: whyNotAcquired and so on.
	Error string `json:"error,omitempty"`
	Why   string `json:"why,omitempty"`

	Session  string            `json:"session,omitempty"`
	Password []byte            `json:"password,omitempty"`        // a secret: it is in no history, log or report
	Timeout  int64             `json:"session_timeout,omitempty"` // granted, ms
	Server   int               `json:"server,omitempty"`          // that the client is linked to, 0 when none
	Czxid    int64             `json:"czxid,omitempty"`
	Token    histories.Token   `json:"token,omitzero"`
	Tokens   []histories.Token `json:"tokens,omitempty"`
	Lock     string            `json:"lock,omitempty"`
	Sequence int               `json:"sequence,omitempty"`
	Position int               `json:"position,omitempty"`
	Valid    bool              `json:"valid,omitempty"`
	Node     string            `json:"node,omitempty"`

	Offers []histories.Recipe `json:"offers,omitempty"` // of open: what the client has

	Stacks []string `json:"stacks,omitempty"` // of census
}

// hosts is what a lock of a worker's own is.
type hosts struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Recipes     []histories.Recipe `json:"recipes"`
	Promises    histories.Promises `json:"promises"`
}

// Why a command has failed, where it matters.
const (
	whyNotAcquired = "not-acquired" // ErrNotAcquired
	whyLost        = "lost"         // ErrLost
	whyNotHeld     = "not-held"     // ErrNotHeld
	whyCancelled   = "cancelled"    // it was cancelled
)

// encode writes v as one line.
func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return append(b, '\n'), err
}
