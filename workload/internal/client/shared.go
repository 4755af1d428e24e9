package client

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/internal/servers"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
)

// Shared is the state that the clients of a run share.
type Shared struct {
	Life     context.Context // ends when the run must end at once
	Patience context.Context // ends with recovery: a client that waits for ever waits until then

	Seed           int64
	Clients        int // their number
	Target         lock.Target
	Promises       histories.Promises
	SessionTimeout time.Duration
	TickTime       time.Duration // of the servers
	Auth           ensemble.Credentials
	Options        float64                   // cycle.Mix.Options
	Dialer         links.Dialer              // opens the connections of clients that live in this process
	Locks          map[string]histories.Lock // by name
	Counters       map[string]*Counters      // by lock

	Journal  *journal.Journal
	Faults   *journal.Coverage
	Observer *servers.Observer
	Workers  *remote.Workers // nil when clients live in this process
	// Processes lets faults pause and kill each application as if it had a process of its own.
	Processes bool
	Shortens  bool // a reconnect may bring the deadline of a lease closer

	opened atomic.Int32 // clients of the target that have reported the state of their connection
}

// Hosted reports whether clients live in worker processes.
func (r *Shared) Hosted() bool { return r.Workers != nil }
