package remote

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// lateness measures how long the lines of a worker process take from the moment
// that they speak of to their receipt. What a line tells counts from its receipt
// on, so this is what a run adds to the time in which a lock notifies its holder of a loss. A
// line that was under way while the process was paused does not count: its delay
// is the pause.
type lateness struct {
	mu     sync.Mutex
	took   *hdrhistogram.Histogram // µs
	worst  time.Duration
	paused bool
	resume int64 // when the last pause ended
}

func newLateness() *lateness {
	return &lateness{took: hdrhistogram.New(1, time.Hour.Microseconds(), 3)}
}

// received counts a line that speaks of the moment at, and is received at now.
func (l *lateness) received(at, now int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused || at <= l.resume {
		return
	}
	took := time.Duration(max(now-at, 0))
	_ = l.took.RecordValue(took.Microseconds()) // it is in range, or else the worst will tell
	l.worst = max(l.worst, took)
}

// isPaused reports whether a fault has begun to pause the worker, and not yet ended.
func (l *lateness) isPaused() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paused
}

func (l *lateness) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = true
}

func (l *lateness) resumed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused, l.resume = false, protocol.Now()
}

// Lateness is how long the lines of worker processes were under way, but for
// those that a pause has held up.
type Lateness struct {
	Lines int64
	P99   time.Duration
	Worst time.Duration
}

// sum is the lateness of several workers together.
func sum(all []*lateness) (out Lateness) {
	took := newLateness().took
	for _, l := range all {
		l.mu.Lock()
		took.Merge(l.took)
		out.Worst = max(out.Worst, l.worst)
		l.mu.Unlock()
	}
	out.Lines, out.P99 = took.TotalCount(), time.Duration(took.ValueAtQuantile(99))*time.Microsecond
	return out
}
