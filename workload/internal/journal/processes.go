package journal

import (
	"sync"
	"sync/atomic"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// Processes records the events of the processes of one client, one process after the other.
// Their numbers are Jepsen's: the next one of client i of n is i+n.
type Processes struct {
	Journal *Journal
	step    int // from one number to the next

	number atomic.Int64 // of the current process; read by faults, which must not wait for a record

	mu       sync.Mutex // orders the events of a process and its end
	over     int        // processes below have crashed or were retired on record
	killed   int        // processes below have died with their host, or before
	dead     bool       // the last process has, and the client has not opened again yet
	diedWith any        // its host
}

// NewProcesses returns the processes of a client, given by its index, of so many.
func NewProcesses(j *Journal, client, clients int) *Processes {
	p := &Processes{Journal: j, step: clients}
	p.number.Store(int64(client))
	return p
}

// Current returns the number of the current process.
func (p *Processes) Current() int { return int(p.number.Load()) }

// Retire gives the client its next process number.
func (p *Processes) Retire() { p.number.Add(int64(p.step)) }

// Record records an event of one of the processes, unless the process has died with its host:
// then its crash is on record, and nothing after it until the client opens again.
func (p *Processes) Record(e histories.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead || e.Process < p.killed {
		return
	}
	if e.Type == histories.Crash || e.Type == histories.Info {
		p.over = max(p.over, e.Process+1)
	}
	p.Journal.Append(e)
}

// RecordAlive is Record for events that may come after the end of their process: those are
// dropped.
func (p *Processes) RecordAlive(e histories.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead || e.Process < max(p.over, p.killed) {
		return
	}
	p.Journal.Append(e)
}

// RecordOfClient is Record for an event of the client, whichever process it has. A process that
// has ended may still be the current one: then the event belongs to the next. It reports false,
// and records nothing, while the client has no process.
func (p *Processes) RecordOfClient(e histories.Event) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return false
	}
	if e.Process = p.Current(); e.Process < p.over {
		e.Process += p.step
	}
	p.Journal.Append(e)
	return true
}

// Die records that the current process has crashed with its host, a worker process or a session
// that it shared, and retires the process. It does so once.
func (p *Processes) Die(with any, session int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.diedWith == with {
		return
	}
	number := p.Current()
	if number >= p.over {
		p.Journal.Append(histories.Event{Type: histories.Crash, Process: number, Session: lock.SessionName(session)})
		p.over = number + 1
	}
	p.killed, p.dead, p.diedWith = number+1, true, with
	p.Retire()
}

// Revive records that the client has opened again.
func (p *Processes) Revive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = false
}

// Alive reports whether the client's process still counts: it has not died with its host.
func (p *Processes) Alive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.dead
}

// IfAlive calls do unless the process has died with its host, and prevents the process from
// dying during the call.
func (p *Processes) IfAlive(do func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return lock.ErrCrashed
	}
	return do()
}
