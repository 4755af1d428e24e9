package histories

import (
	"errors"
	"io"
	"sync/atomic"
)

// ErrUnknown is wrapped by the error of a call of [Process.Do] when it is unknown
// whether the operation took effect.
var ErrUnknown = errors.New("it is not known whether it took effect")

// NewRecorder starts a history in w, as [Create] does in a file. W may be a
// bytes.Buffer in a test of your own lock. The caller must Close the recorder,
// and may read w then.
func NewRecorder(w io.Writer, h Header) (*Recorder, error) { return newRecorder(writerSink{w}, h) }

type writerSink struct{ io.Writer }

func (writerSink) Flush() error { return nil }
func (writerSink) Close() error { return nil }

// Process records the operations of one goroutine on locks, one at a time. Each
// goroutine needs a Process of its own.
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

// number returns the number of a new process.
func (r *Recorder) number() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes++
	return r.processes - 1
}

// Number returns the current number of the process in the history.
func (p *Process) Number() int { return int(p.n.Load()) }

// Acquire records call as an acquire of a lock, which p holds from the return of
// call on if that returned nil. It returns what call returns.
func (p *Process) Acquire(lock string, call func() error) error {
	return p.Do(Event{Op: Acquire, Lock: lock}, func(*Event) error { return call() })
}

// Release records call as the release of a lock. From the call on p does not hold
// the lock, even if the release fails. It returns what call returns.
func (p *Process) Release(lock string, call func() error) error {
	return p.Do(Event{Op: Release, Lock: lock}, func(*Event) error { return call() })
}

// Do records call as the operation that e describes: its Op, lock, mode, permits
// and so on. Call may add fields of the answer to e, such as a token. If call returns
// nil, the operation is recorded as ok. If call's error wraps [ErrUnknown], it is
// unknown whether the operation took effect: it is recorded as info, and p goes on
// under a new number. After any other error it is recorded as fail: it had no effect.
// Do returns the error of call, or, without calling it, the error of the recorder if
// the invocation cannot be recorded.
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
