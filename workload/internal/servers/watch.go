// Package servers observes the servers during a run: their states, whether their data agree, and,
// through a session of the run's own that no fault cuts, the ends of the clients' sessions. That
// session also reads, writes and deletes nodes for the run.
package servers

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
)

// Watch records the state of each server whenever it has changed, and when no event has gone on
// record for a while: that shows that the run was awake, and the servers answered, while its
// clients all waited. It asks each over a connection of its own, which no fault hits: a server
// that is cut off from the others or from its clients goes on answering here.
type Watch struct {
	every   time.Duration // interval at which each is asked
	patient time.Duration // time that each has to answer
	record  func(histories.Event)
	idle    func() time.Duration // time since the last event on record
	knows   func(zxid int64)     // called with the last transaction that a server knew of
}

// NewWatch returns a Watch with the intervals of a run.
func NewWatch(j *journal.Journal, knows func(zxid int64)) Watch {
	return Watch{every: serverPoll, patient: serverPatience, record: j.Append, idle: j.Idle, knows: knows}
}

// A question takes a server a tenth of a millisecond. A server that is stopped is found to be
// silent after serverPatience.
const (
	serverPoll     = 250 * time.Millisecond
	serverPatience = lock.SilentAfter - serverPoll
	serverIdle     = 50 * time.Millisecond // without any event; then states are recorded again
)

// Run watches servers until ctx ends.
func (w Watch) Run(ctx context.Context, servers []ensemble.Server) {
	var wg sync.WaitGroup
	for _, s := range servers {
		wg.Go(func() { w.watch(ctx, s) }) // ends with ctx
	}
	wg.Wait()
}

// watch asks one server until ctx ends, or the server answers that it does not allow the
// question.
func (w Watch) watch(ctx context.Context, server ensemble.Server) {
	var last histories.Server
	for {
		asking, cancel := context.WithTimeout(ctx, w.patient)
		status, allowed, err := ensemble.AskStatus(asking, server)
		cancel()
		if ctx.Err() != nil || err == nil && !allowed {
			return
		}
		if err == nil && status.Serving() {
			w.knows(status.Zxid)
		}
		seen := histories.Server{ID: server.ID, State: stateOf(status, err)}
		if status.Version != last.Version {
			seen.Version = status.Version
		}
		if seen.State != "" && (seen.State != last.State || seen.Version != "" || w.idle() >= serverIdle) {
			last.State = seen.State
			if seen.Version != "" {
				last.Version = seen.Version
			}
			w.record(histories.Event{Type: histories.ServerSeen, Process: -1, Server: &seen})
		}
		select {
		case <-time.After(w.every):
		case <-ctx.Done():
			return
		}
	}
}

// stateOf returns the state of a server that gives this answer, "" for a state that histories
// do not know.
func stateOf(status ensemble.Status, err error) histories.ServerState {
	var slow net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return histories.Silent
	case err != nil:
		return histories.Down
	case !status.Serving():
		return histories.Electing
	}
	switch state := histories.ServerState(status.Mode); state {
	case histories.Leading, histories.Following, histories.Observing, histories.Alone:
		return state
	}
	return ""
}
