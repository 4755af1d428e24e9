package client

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/activity"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/internal/observer"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
)

// Shared is what the clients of a run have in common.
type Shared struct {
	Life     context.Context // ends when the run must end at once
	Patience context.Context // ends with recovery: a client that waits for ever does so until then

	Seed           int64
	Clients        int // how many
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
	Faults   *activity.Coverage
	Observer *observer.Observer
	Workers  *remote.Workers // nil when clients live in this process
	// Processes has faults pause and kill each application as if it had a process of its own.
	Processes bool

	opened atomic.Int32 // clients of the target that told how they stand
}

// Hosted reports whether clients live in worker processes.
func (r *Shared) Hosted() bool { return r.Workers != nil }
