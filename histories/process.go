package histories

import (
	"errors"
	"io"
	"sync/atomic"
)

// ErrUnknown is wrapped by the error of a call of [Process.Do] when nobody knows
// whether the operation took effect.
var ErrUnknown = errors.New("nobody knows whether it took effect")

// NewRecorder starts a history in w, as [Create] does in a file: in a
// bytes.Buffer, say, for a test of a lock of one's own. The caller must Close the
// recorder, and may read w then.
func NewRecorder(w io.Writer, h Header) (*Recorder, error) { return newRecorder(writerSink{w}, h) }

type writerSink struct{ io.Writer }

func (writerSink) Flush() error { return nil }
func (writerSink) Close() error { return nil }

// Process puts on record what one goroutine does with locks. It does one thing at
// a time; each goroutine needs one of its own.
type Process struct {
	r *Recorder
	n atomic.Int64
}

// Process returns a new process of the history.
func (r *Recorder) Process() *Process {
	p := &Process{r: r}
	p.n.Store(r.number())
	return p
}

// number returns one that no process has.
func (r *Recorder) number() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes++
	return r.processes - 1
}

// Number returns the number under which the process is on record now.
func (p *Process) Number() int { return int(p.n.Load()) }

// Acquire records call as an acquire of a lock, which p holds from the return of
// call on if that returned nil. It returns what call returns.
func (p *Process) Acquire(lock string, call func() error) error {
	return p.Do(Event{Op: Acquire, Lock: lock}, func(*Event) error { return call() })
}

// Release records call as the release of a lock, which p does not hold from the
// call on, whatever becomes of it. It returns what call returns.
func (p *Process) Release(lock string, call func() error) error {
	return p.Do(Event{Op: Release, Lock: lock}, func(*Event) error { return call() })
}

// Do records call as the operation that e describes: its Op, lock, mode, permits
// and so on. Call may add to e what the answer says, such as a token. It went well
// if call returned nil; nobody knows if call's error wraps [ErrUnknown], and then
// p goes on as another process; else it had no effect. Do returns what call
// returns, or, without calling it, why it cannot be recorded.
func (p *Process) Do(e Event, call func(e *Event) error) error {
	e.Type, e.Process = Invoke, p.Number()
	if _, err := p.r.Record(e); err != nil {
		return err
	}
	err := call(&e)
	e.Type, e.Process = OK, p.Number()
	switch {
	case errors.Is(err, ErrUnknown):
		e.Type, e.Error = Info, err.Error()
		defer func() { p.n.Store(p.r.number()) }()
	case err != nil:
		e.Type, e.Error = Fail, err.Error()
	}
	if _, failed := p.r.Record(e); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}

// Lost records that p was told that it no longer holds a lock. It may be called
// while p does something else, from any goroutine.
func (p *Process) Lost(lock string) error {
	_, err := p.r.Record(Event{Type: Lost, Process: p.Number(), Lock: lock})
	return err
}
