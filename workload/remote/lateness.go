package remote

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// lateness measures the time that the lines of a worker process take from the moment that they
// report to their receipt. A line counts from its receipt on, so a run adds this time to the
// time in which a lock notifies its holder of a loss. A line that was under way while the
// process was paused does not count: its delay is the pause. A stop that the run did not cause,
// such as a garbage collection, delays the lines of the process: it appears as a silence.
type lateness struct {
	mu     sync.Mutex
	took   *hdrhistogram.Histogram // µs
	worst  time.Duration
	paused bool
	resume int64     // when the last pause ended
	woke   time.Time // the same
	ran    int64     // latest moment at which the process ran, while it is asked; else 0
	silent time.Duration
	// silences are the silences that were longer than slack.
	slack    time.Duration
	silences []silence
}

// silence is a Silence by the clock of the lines.
type silence struct{ from, to int64 }

// newLateness measures the lateness of a worker, whose silences of more than slack count.
func newLateness(slack time.Duration) *lateness {
	return &lateness{took: hdrhistogram.New(1, time.Hour.Microseconds(), 3), slack: slack}
}

// received counts a line that reports the moment at and is received at now. A moment in the
// future counts as now.
func (l *lateness) received(at, now int64) {
	at = min(at, now)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused || at <= l.resume {
		return
	}
	took := time.Duration(max(now-at, 0))
	_ = l.took.RecordValue(took.Microseconds()) // if it is out of range, worst has it
	l.worst = max(l.worst, took)
	l.runs(at)
}

// runs counts the time up to at, in which the process ran again or a pause began.
func (l *lateness) runs(at int64) {
	if l.ran == 0 {
		return
	}
	from := max(l.ran, l.resume)
	silent := time.Duration(at - from)
	l.silent, l.ran = max(l.silent, silent), max(l.ran, at)
	if silent > l.slack {
		l.silences = append(l.silences, silence{from, at})
	}
}

// asked records that from now on the process is asked whether it runs, often enough for each
// longer silence to be a stop that the run did not cause.
func (l *lateness) asked() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran = protocol.Now()
}

// unasked records that the process is not asked any more. It may not have run until now.
func (l *lateness) unasked() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.paused {
		l.runs(protocol.Now())
	}
	l.ran = 0
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
	l.runs(protocol.Now())
	l.paused = true
}

func (l *lateness) resumed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused, l.resume, l.woke = false, protocol.Now(), time.Now()
}

// owed returns how much is left of the time all, which began at since: a pause by the run starts
// it anew.
func (l *lateness) owed(since time.Time, all time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		return all
	}
	if l.woke.After(since) {
		since = l.woke
	}
	return all - time.Since(since)
}

// Lateness describes the time that the lines of worker processes were under way, without those
// that a pause has held up.
type Lateness struct {
	Lines int64
	P99   time.Duration
	Worst time.Duration
	// Silent is the longest time in which a process wrote no line, though it was asked whether
	// it runs each quarter of Config.Slack. Zero if none was asked.
	Silent time.Duration
	// Silences are the silences that were longer than Config.Slack.
	Silences []Silence
}

// Silence is a time in which a process that was asked whether it runs wrote no line.
type Silence struct {
	Worker   int // its number
	From, To time.Time
}

// sum returns the lateness of the workers together; the first has the number 1.
func sum(all []*lateness) (out Lateness) {
	took := newLateness(0).took
	for i, l := range all {
		l.mu.Lock()
		for _, s := range l.silences {
			out.Silences = append(out.Silences, Silence{i + 1, timeOf(s.from), timeOf(s.to)})
		}
		took.Merge(l.took)
		out.Worst, out.Silent = max(out.Worst, l.worst), max(out.Silent, l.silent)
		l.mu.Unlock()
	}
	out.Lines, out.P99 = took.TotalCount(), time.Duration(took.ValueAtQuantile(99))*time.Microsecond
	return out
}

// timeOf turns a time of the lines' clock into one of this process.
func timeOf(at int64) time.Time { return time.Now().Add(-time.Duration(protocol.Now() - at)) }
