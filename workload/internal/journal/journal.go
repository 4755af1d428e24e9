// Package journal records the events of a run: it counts them, and records none of a client
// after the end of the process that it belongs to. It tracks what the clients do at each moment,
// and chooses by it the clients that faults hit. Package states derives most of that from the
// events on record; clients report the rest, such as the nodes of leases and how long a holder
// holds on.
package journal

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Recorder records the events of a run. [histories.Recorder] is one.
type Recorder interface {
	// Record stamps the event with the time and appends it.
	Record(histories.Event) (histories.Event, error)
	// Elapsed returns the time of the run now, on the clock that stamps events.
	Elapsed() time.Duration
	// Failed is closed when the history cannot be written any more.
	Failed() <-chan struct{}
	// Err returns the reason.
	Err() error
}

// Journal counts the events that it records. An event that the recorder refuses breaks a
// rule of the format: a defect of the harness, and the end of the run.
type Journal struct {
	Recorder
	Refuse func(error) // called with the first refusal
	// Heard, if it is not nil, is called with each event on record, by the goroutine that has
	// recorded it: with the events of one process in their order, while those of other
	// processes may overtake them.
	Heard func(*histories.Event)

	once   sync.Once
	Ops    atomic.Int64 // operations completed
	Cycles atomic.Int64 // locks acquired and released
	Lost   atomic.Int64 // leases lost
	last   atomic.Int64 // the time of the last event
}

// Record implements [Recorder].
func (j *Journal) Record(e histories.Event) (histories.Event, error) {
	stamped, err := j.Recorder.Record(e)
	if err == nil && j.Heard != nil {
		j.Heard(&stamped)
	}
	return stamped, err
}

// Append appends an event. Failures to write are seen through Failed.
func (j *Journal) Append(e histories.Event) {
	stamped, err := j.Record(e)
	if err != nil {
		if j.Err() == nil {
			j.once.Do(func() { j.Refuse(fmt.Errorf("the harness recorded an impossible event: %w", err)) })
		}
		return
	}
	j.last.Store(int64(stamped.Time))
	switch e.Type {
	case histories.OK, histories.Fail, histories.Info:
		j.Ops.Add(1)
	case histories.Lost:
		j.Lost.Add(1)
	}
}

// Idle returns the time since the last event on record.
func (j *Journal) Idle() time.Duration { return j.Elapsed() - time.Duration(j.last.Load()) }
