package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// The kinds of lock that a case may ask for.
const (
	mutex     = "mutex"
	semaphore = "semaphore"
	readWrite = "readwrite" // of each ten contenders the last is a writer
)

// work is the task of a peer: contenders, spread over sessions, each acquire and release
// one lock a number of times.
type work struct {
	kind       string
	path       string
	servers    []string // session i connects only to servers[i modulo their number]
	sessions   int
	contenders int
	cycles     int
	permits    int           // of a semaphore
	hold       time.Duration // how long each holder stays, in addition to the time of the lock itself
}

// total returns the number of cycles that all contenders make together.
func (w work) total() int { return w.contenders * w.cycles }

// server returns the address that a contender's session connects to.
func (w work) server(contender int) string { return w.servers[w.session(contender)%len(w.servers)] }

// session returns the number of the session that a contender uses.
func (w work) session(contender int) int { return contender % w.sessions }

// writer reports whether a contender of a read/write lock writes.
func (w work) writer(contender int) bool { return contender%10 == 9 }

// String returns the work in the form that drivers read: words of the form name=value.
func (w work) String() string {
	return fmt.Sprintf("kind=%s path=%s servers=%s sessions=%d contenders=%d cycles=%d permits=%d hold=%d",
		w.kind, w.path, strings.Join(w.servers, ","), w.sessions, w.contenders, w.cycles, w.permits, w.hold.Microseconds())
}

// guard detects when a lock admits more holders than it may: a lock that does not lock
// would win every comparison.
type guard struct {
	kind    string
	permits int64
	inside  atomic.Int64
}

// aWriter counts a writer in guard.inside so that it cannot be taken for readers.
const aWriter = 1 << 32

func newGuard(w work) *guard { return &guard{kind: w.kind, permits: int64(w.permits)} }

// enter is called by each new holder.
func (g *guard) enter(writer bool) error {
	var inside int64
	may := int64(1)
	switch {
	case g.kind == readWrite && writer:
		inside, may = g.inside.Add(aWriter), aWriter
	case g.kind == readWrite:
		inside, may = g.inside.Add(1), aWriter-1
	case g.kind == semaphore:
		inside, may = g.inside.Add(1), g.permits
	default:
		inside = g.inside.Add(1)
	}
	if inside > may {
		return fmt.Errorf("the %s let in more than it may", g.kind)
	}
	return nil
}

// leave is called by each holder before it releases.
func (g *guard) leave(writer bool) {
	if g.kind == readWrite && writer {
		g.inside.Add(-aWriter)
		return
	}
	g.inside.Add(-1)
}
