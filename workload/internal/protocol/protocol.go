// Package protocol defines the messages between a run and its worker processes, one JSON object
// a line. docs/worker.md describes them for authors of workers.
package protocol

import (
	"encoding/json"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
)

// Version is the version that the hello of a worker must name.
const Version = 1

// The commands of a run to a worker, besides the operations of histories.Op, which have the
// same names here.
const (
	DoOpen    = "open"        // starts a client
	DoCrash   = "crash"       // ends it as the death of its process would
	DoClose   = "close"       // ends it in good order
	DoReenter = "reenter"     // acquires again, for the owner of Lease
	DoValid   = "valid"       // asks a lease
	DoEcho    = "echo"        // is answered by a process that runs
	DoListen  = "listen"      // asks to be told when a lease's holder is asked to release
	DoHolder  = "holder"      // asks for the holder of a lock
	DoSet     = "set-guarded" // sets the data of a node while the lease holds its lock
	DoCancel  = "cancel"      // ends the context of command Of
	DoCensus  = "census"      // asks for goroutines, or threads, that closed clients have left

	// DoPromises asks a worker that hosts a lock for the promises of the lock under the session
	// timeout and the tick of Env, if its hello does not contain them.
	DoPromises = "promises"
)

// Command is a line to a worker.
type Command struct {
	ID     int64            `json:"id"`
	Do     string           `json:"do"`
	Client int              `json:"client"`
	Recipe histories.Recipe `json:"recipe,omitempty"`
	Lock   string           `json:"lock,omitempty"`
	Locks  []string         `json:"locks,omitempty"` // of a multi-lock
	Mode   histories.Mode   `json:"mode,omitempty"`
	// Permits is the number of permits to acquire, Size the new size of a shared semaphore.
	Permits int    `json:"permits,omitempty"`
	Size    int    `json:"size,omitempty"`
	Lease   int64  `json:"lease,omitempty"` // the number of the command that acquired it
	Node    string `json:"node,omitempty"`  // from holder; of set-guarded the node to write
	Data    string `json:"data,omitempty"`  // to write there
	Of      int64  `json:"of,omitempty"`    // the command to cancel
	Env     *Where `json:"env,omitempty"`   // for open and promises
}

// Where is the environment lock.Env in a line.
type Where struct {
	Target   string                    `json:"target"` // the name of the lock under test
	Servers  []Server                  `json:"servers"`
	Timeout  int64                     `json:"session_timeout"` // ms
	Tick     int64                     `json:"tick"`            // ms, 0 when unknown
	Root     string                    `json:"root"`
	Presence string                    `json:"presence"` // where each session keeps its presence node
	Locks    map[string]histories.Lock `json:"locks"`
	Scheme   string                    `json:"scheme,omitempty"` // of the credentials
	Secret   []byte                    `json:"secret,omitempty"` // in no history, log or report
}

// Auth returns the credentials to authenticate with.
func (w Where) Auth() ensemble.Credentials { return ensemble.NewCredentials(w.Scheme, w.Secret) }

// Server is a server that a client connects to, through a link of its own.
type Server struct {
	ID   int    `json:"id"`
	Addr string `json:"addr"`
}

// The events of a worker.
const (
	SayHello           = "hello"    // first of all
	SaySession         = "session"  // the client's session or link has changed
	SayPresence        = "presence" // a presence node is made
	SayEnqueued        = "enqueued" // Env.Enqueued, of the acquire ID
	SaySuspended       = "suspended"
	SayResumed         = "resumed"
	SayLost            = "lost"             // of Lease
	SayRevokeRequested = "revoke-requested" // of Lease
	SayObserved        = "observed"         // the command observe ID sees the leader: Token
)

// Line is one line of a worker: the answer to command ID, or an event.
type Line struct {
	At     int64  `json:"at"` // CLOCK_MONOTONIC, ns
	ID     int64  `json:"id,omitempty"`
	Event  string `json:"event,omitempty"`
	Client *int   `json:"client,omitempty"`
	Lease  int64  `json:"lease,omitempty"`

	Protocol int    `json:"protocol,omitempty"` // of hello
	Hosts    *Hosts `json:"hosts,omitempty"`    // of hello, from a worker with one lock of its own

	// Error says that the command has failed, Why in which way: WhyNotAcquired and so on.
	Error string `json:"error,omitempty"`
	Why   string `json:"why,omitempty"`

	Session  string            `json:"session,omitempty"`
	Password []byte            `json:"password,omitempty"`        // a secret: it is in no history, log or report
	Timeout  int64             `json:"session_timeout,omitempty"` // granted, ms
	Server   int               `json:"server,omitempty"`          // of the link, 0 when none
	Czxid    int64             `json:"czxid,omitempty"`
	Token    histories.Token   `json:"token,omitzero"`
	Tokens   []histories.Token `json:"tokens,omitempty"`
	Lock     string            `json:"lock,omitempty"`
	Sequence int               `json:"sequence,omitempty"`
	Position int               `json:"position,omitempty"`
	Valid    bool              `json:"valid,omitempty"`
	Node     string            `json:"node,omitempty"`

	Offers []histories.Recipe `json:"offers,omitempty"` // of open: the client's recipes

	Stacks   []string             `json:"stacks,omitempty"`   // of census
	Connects []histories.Connects `json:"connects,omitempty"` // of census, by the clients' numbers

	Promises *histories.Promises `json:"promises,omitempty"` // of promises
}

// Hosts describes the lock of a worker's own.
type Hosts struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	Recipes     []histories.Recipe `json:"recipes"`
	// Promises, if they depend on no setting. Else they are asked for: DoPromises.
	Promises *histories.Promises `json:"promises,omitempty"`
}

// The reasons why a command has failed, where they matter.
const (
	WhyNotAcquired = "not-acquired" // lock.ErrNotAcquired
	WhyLost        = "lost"         // lock.ErrLost
	WhyNotHeld     = "not-held"     // lock.ErrNotHeld
	WhyCancelled   = "cancelled"    // it was cancelled
)

// Encode writes v as one line.
func Encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	return append(b, '\n'), err
}
