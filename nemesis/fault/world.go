package fault

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories/states"
)

// World is what faults may know and touch. Its methods may be called from
// several goroutines.
type World interface {
	Ensemble() ensemble.Ensemble
	// SessionTimeout is the clients' negotiated session timeout.
	SessionTimeout() time.Duration
	// Clients says how each client stands now, by ascending index.
	Clients() []Client
}

// Watcher is implemented by a World that wants to be told of faults: Struck
// when the start is on record, just before it, Healed after the stop, just before
// that is put on record. The calls must not block.
type Watcher interface {
	Struck(id int, fault Fault)
	Healed(id int, fault Fault)
}

// Workers is implemented by a World whose clients live in worker processes:
// those whose Client.Worker is not 0.
type Workers interface {
	// Pause stops a process (SIGSTOP) and returns when it stands still; Resume
	// lets it go on, whether or not it stands still.
	Pause(ctx context.Context, worker int) error
	Resume(worker int) error
	// Kill ends a process at once (SIGKILL) and returns when the crash of its
	// clients is on record; Start starts it again.
	Kill(worker int)
	Start(ctx context.Context, worker int) error
}

// Chooser is implemented by a World that would rather see some clients hit than
// others.
type Chooser interface {
	// Rarest returns those among the clients whom such a fault has met least
	// often as they are, in the state that it is aimed at. Patient asks for
	// nobody rather than for somebody whom it has met more often than others
	// that may turn up.
	Rarest(fault string, aim Aim, among []Client, patient bool) []Client
	// Ripe reports whether a fault of servers had better strike now than a little
	// later: somebody does what no such fault has met, or there is no such thing.
	Ripe(fault string) bool
}

// Recorder is implemented by a World that counts what goes on record. While the count stays
// the same its clients are taken to stand as they did, for a while: a step that has found
// nobody to hit does not look again.
type Recorder interface {
	Recorded() int
}

// Asker is implemented by a World whose clients ask the servers for something on demand.
type Asker interface {
	// Ask returns at once.
	Ask(client int, what Request)
}

// Request is what a client is to ask for.
type Request string

// The requests.
const (
	Read  Request = "read"  // the client's server answers it by itself
	Sync  Request = "sync"  // the leader answers it
	Write Request = "write" // a quorum has to agree; it changes nothing
)

// Client is how one client of the workload stands at one moment.
type Client struct {
	Index   int // which client; stays when its process is replaced
	Process int // the number of its process in the history
	// Links are its links to the servers, by server ID.
	Links map[int]links.Link
	// Together are the clients, itself among them, that share these links and the
	// session; nil when it is alone.
	Together []int
	// Linked is the server it has a session through now, 0 when none.
	Linked int
	// Session and Password are its session's credentials; Session is 0 when
	// it never had one.
	Session  int64
	Password []byte
	States   []states.State // what it does with locks: none of an idle client
	Lingers  bool           // it would hold on if it were hit now
	Worker   int            // the worker process that it lives in, from 1; 0: none
}

// AllLinks returns the client's links by ascending server, so that one seed
// means one order.
func (c Client) AllLinks() []links.Link {
	var out []links.Link
	for _, id := range slices.Sorted(maps.Keys(c.Links)) {
		out = append(out, c.Links[id])
	}
	return out
}
