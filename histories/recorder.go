package histories

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// flushEvery bounds how long an event that is not an invoke may wait in memory.
const flushEvery = 100 * time.Millisecond

// Recorder records the history of a run while it runs: [Create] records in a file, [Keep] in
// memory. Its methods may be called from any goroutine.
type Recorder struct {
	origin time.Time
	failed chan struct{}

	mu      sync.Mutex
	kept    *Kept // instead of out, enc and buf, for a history in memory
	out     sink
	enc     *json.Encoder
	buf     bytes.Buffer // encoded, not yet written
	event   Event        // of the current call of Record; reused, since an Event is large
	valid   *validator
	last    time.Duration
	pending int // events in buf
	written int
	refused int
	err     error
	closed  bool
	stalls  stalls

	processes int64 // numbers handed out by Process

	stop, stopped chan struct{} // owned by Close: ends tick
}

// sink is the destination of the lines. Flush hands the lines written so far to the
// operating system.
type sink interface {
	io.WriteCloser
	Flush() error
}

// Create starts a history in a new file at path, compressed when path ends in
// .zst. The origin of the run's clock is now. Create sets [Header.Started] to the
// wall clock's time unless it is given, and Version to [Version]. The caller must
// Close the recorder.
func Create(path string, h Header) (*Recorder, error) {
	if name := strings.TrimSuffix(path, ".zst"); strings.HasSuffix(name, ".edn") || strings.HasSuffix(name, porcupineEnding) {
		return nil, errors.New("histories: a run is recorded as .jsonl or .jsonl.zst; other formats can be written afterwards")
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	var out sink = plainSink{f}
	if strings.HasSuffix(path, ".zst") {
		z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<18))
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		out = zstdSink{z, f}
	}
	return newRecorder(out, h)
}

// newRecorder returns a recorder that writes to out.
func newRecorder(out sink, h Header) (*Recorder, error) {
	r := recorderOf(&h)
	r.out, r.enc = out, json.NewEncoder(&r.buf)
	r.enc.SetEscapeHTML(false)
	err := h.check()
	if err == nil {
		err = r.enc.Encode(h)
	}
	if err == nil {
		err = r.flush()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("histories: cannot record: %w", err), out.Close())
	}
	go r.tick()
	return r, nil
}

// recorderOf returns the recorder of a history that begins now. It completes the header.
func recorderOf(h *Header) *Recorder {
	r := &Recorder{
		origin: time.Now(), failed: make(chan struct{}), valid: newValidator(h.Locks),
		stop: make(chan struct{}), stopped: make(chan struct{}), stalls: stalls{longest: Slack(h.SessionTimeout)},
	}
	h.Version = Version
	if h.Started.IsZero() {
		h.Started = r.origin.Round(0)
	}
	return r
}

// Elapsed returns the current time of the run, on the clock that stamps events.
func (r *Recorder) Elapsed() time.Duration { return time.Since(r.origin) }

// Record stamps e with the time of the run, appends it and returns it as it was
// recorded. In a file, an invoke and all events before it are handed to the operating
// system before Record returns; other events follow within a tenth of a second.
//
// A goroutine of the recorder uses it several times per [Slack]. If no goroutine has used
// the recorder for longer than Slack, the process has stood still, or the file took no
// line. A [Stalled] event then precedes the next event: the events of that time are
// recorded late.
//
// An event that breaks a rule of the format is refused with a [*FormatError]
// and leaves the history as it was: the recorded events can always be read.
// The first failure to write (a full disk) is returned by this and every later
// call, and closes [Recorder.Failed].
func (r *Recorder) Record(e Event) (Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return e, r.err
	}
	if r.closed {
		return e, ErrClosed
	}
	// The clock is read under the lock, so that lines are in the order of their
	// times.
	e.Time = max(time.Since(r.origin), r.last)
	if err := r.recordStall(e.Time); err != nil {
		return e, err
	}
	r.event = e
	if err := r.valid.check(&r.event); err != nil {
		r.refused++
		f := &FormatError{Reason: err.Error()}
		if errors.Is(err, ErrRetired) {
			f.Err, f.Reason = ErrRetired, err.Error()[len(ErrRetired.Error())+2:]
		}
		return e, f
	}
	if err := r.append(&r.event); err != nil {
		return e, err
	}
	if e.Type == Invoke {
		return e, r.flush()
	}
	return e, nil
}

// append appends a valid event. The caller holds mu.
func (r *Recorder) append(e *Event) error {
	r.last = e.Time
	if r.kept != nil {
		r.kept.append(e)
		r.written++
		return nil
	}
	if err := r.enc.Encode(e); err != nil {
		return r.fail(err)
	}
	r.pending++
	return nil
}

// Counts returns the number of events that were accepted, the number of these that were
// handed to the operating system or are kept in memory, and the number that were refused.
// After a Close that returned nil, recorded equals written.
func (r *Recorder) Counts() (recorded, written, refused int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written + r.pending, r.written, r.refused
}

// Failed returns a channel that is closed when the history can no longer be written.
// The run must stop then, since its operations are not recorded. Err returns the reason.
func (r *Recorder) Failed() <-chan struct{} { return r.failed }

// Err returns the failure to write that closed Failed, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Close writes the remaining events and closes the file. It returns the first failure
// to write, if there was one. A second Close returns the same.
func (r *Recorder) Close() error {
	r.mu.Lock()
	if r.closed {
		defer r.mu.Unlock()
		return r.err
	}
	r.closed = true
	_ = r.flush() // kept in r.err
	r.mu.Unlock()

	close(r.stop)
	<-r.stopped
	if r.kept != nil {
		return nil
	}
	err := r.out.Close()

	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && r.err == nil {
		_ = r.fail(err)
	}
	return r.err
}

// flush hands buf to the operating system. The caller holds mu.
func (r *Recorder) flush() error {
	if r.err != nil || r.buf.Len() == 0 {
		return r.err
	}
	if _, err := r.out.Write(r.buf.Bytes()); err != nil {
		return r.fail(err)
	}
	if err := r.out.Flush(); err != nil {
		return r.fail(err)
	}
	r.buf.Reset()
	r.written += r.pending
	r.pending = 0
	return nil
}

// fail keeps the first failure. The caller holds mu.
func (r *Recorder) fail(err error) error {
	if r.err == nil {
		r.err = fmt.Errorf("histories: cannot write the history: %w", err)
		close(r.failed)
	}
	return r.err
}

// tick flushes buf and notices stalls until stop is closed.
func (r *Recorder) tick() {
	defer close(r.stopped)
	t := time.NewTicker(r.stalls.lookEvery())
	defer t.Stop()
	for {
		select {
		case <-t.C:
			r.mu.Lock()
			_ = r.recordStall(max(time.Since(r.origin), r.last)) // kept in r.err, as the next one is
			_ = r.flush()
			r.mu.Unlock()
		case <-r.stop:
			return
		}
	}
}

type plainSink struct{ *os.File }

func (plainSink) Flush() error { return nil } // every Write is a write(2)

type zstdSink struct {
	*zstd.Encoder
	f *os.File
}

func (s zstdSink) Close() error { return errors.Join(s.Encoder.Close(), s.f.Close()) }
