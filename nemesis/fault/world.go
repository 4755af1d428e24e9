package fault

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
)

// World gives faults access to the running system. Its methods may be called from
// several goroutines.
type World interface {
	Ensemble() ensemble.Ensemble
	// SessionTimeout is the clients' negotiated session timeout.
	SessionTimeout() time.Duration
	// Clients returns the current state of each client, by ascending index.
	Clients() []Client
}

// Watcher is implemented by a World that wants to be told of faults. Struck is called
// when the start is recorded, just before the fault starts; Healed is called when the
// fault has stopped, just before the stop is recorded. The calls must not block.
type Watcher interface {
	Struck(id int, fault Fault)
	Healed(id int, fault Fault)
}

// Workers is implemented by a World in which clients live in worker processes: the clients
// whose Client.Worker is not 0.
type Workers interface {
	// Pause stops a process (SIGSTOP) and returns when it stands still; Resume
	// lets it go on, whether or not it stands still.
	Pause(ctx context.Context, worker int) error
	Resume(worker int) error
	// Kill ends a process at once (SIGKILL) and returns when the crash of its
	// clients is recorded; Start starts it again.
	Kill(worker int)
	Start(ctx context.Context, worker int) error
}

// Chooser is implemented by a World that prefers some clients as targets.
type Chooser interface {
	// Rarest returns the clients, among those given, whose current state such a fault
	// has met least often, in the state of the aim. If patient, it returns no client
	// rather than one whose state the fault has met more often than a state that
	// another client may still reach.
	Rarest(fault string, aim Aim, among []Client, patient bool) []Client
	// Ripe reports whether a fault of servers should strike now rather than a little
	// later: a client is in a state that no such fault has met, or there is no such state.
	Ripe(fault string) bool
}

// Recorder is implemented by a World that counts recorded events. While the count stays the
// same, the clients are assumed to be in the same states, for a while: a step that has found
// no target does not look again.
type Recorder interface {
	Recorded() int
}

// Keeper is implemented by a World whose clients hold on to a lock on demand.
type Keeper interface {
	// Keep has a client that lingers hold its lock for so long, whether or not it is hit then.
	// It reports false if the client does not linger any more.
	Keep(client int, endure time.Duration) bool
}

// Asker is implemented by a World whose clients send requests to the servers on demand.
type Asker interface {
	// Ask has a client send a request. It returns at once.
	Ask(client int, what Request)
}

// Request is a request that a client can send on demand.
type Request string

// The requests.
const (
	Read  Request = "read"  // the client's server answers it by itself
	Sync  Request = "sync"  // the leader answers it
	Write Request = "write" // a quorum has to agree; no data changes
)

// Searcher is implemented by a World in which a fault can wait for a step of a client, and act on
// it there.
type Searcher interface {
	// Hear calls f with every event that goes on record, until stop is called, and perhaps
	// once more just after that. Calls may overlap. f must not block.
	Hear(f func(*histories.Event)) (stop func())
	// Cancel ends the contexts of the calls that a client has under way.
	Cancel(client int)
	// Crash ends a client, and those that share its session, as the end of a process does.
	Crash(client int)
	// Hit tells a client that the fault hits it now, as Struck does for most faults.
	Hit(client int)
	// Strike carries out another fault, and puts it on record.
	Strike(ctx context.Context, f Fault) error
}

// Client is the state of one client of the workload at one moment.
type Client struct {
	Index   int // stays the same when the client's process is replaced
	Process int // the number of its process in the history
	// Links are its links to the servers, by server ID.
	Links map[int]links.Link
	// Together are the clients, including this one, that share these links and the
	// session; nil if no other client does.
	Together []int
	// Linked is the server to which it is connected with a session, 0 if none.
	Linked int
	// Session and Password are its session's credentials; Session is 0 if
	// it never had one.
	Session  int64
	Password []byte
	States   []states.State // its states with regard to locks: none for an idle client
	Lingers  bool           // it would keep its lock if it were hit now
	EndsHold bool           // it gives up its lock as soon as it is cut off
	Worker   int            // the worker process that it lives in, from 1; 0: none
}

// AllLinks returns the client's links by ascending server ID, so that the order is the
// same in each run with one seed.
func (c Client) AllLinks() []links.Link {
	var out []links.Link
	for _, id := range slices.Sorted(maps.Keys(c.Links)) {
		out = append(out, c.Links[id])
	}
	return out
}
