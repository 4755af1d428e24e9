package locks

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/inspect"
)

// exporter holds the last reading of the locks.
type exporter struct {
	*exportCmd
	s *servers

	// Of the one goroutine that reads.
	sampler inspect.Sampler
	before  []inspect.Finding // of the last reading, not confirmed
	ratesAt time.Time
	number  int // of readings

	mu       sync.Mutex // guards the fields below
	up       bool
	begun    time.Time // of the reading under way, or the last one
	reading  bool
	failures int
	last     inspect.Snapshot // with the locks that have the most waiters first
	unasked  int
	findings map[findingKey]int
	grants   map[string]*grants // by path
}

type findingKey struct {
	lock    string
	problem inspect.Problem
}

// grants counts the grants of a lock.
type grants struct {
	n      float64
	number int // of the last reading that had the lock
}

func newExporter(c *exportCmd, s *servers) *exporter {
	return &exporter{exportCmd: c, s: s, grants: make(map[string]*grants)}
}

// took returns the time that the last reading took.
func (e *exporter) took() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last.Took
}

// answers reports whether the servers do: a request waits for as long as there is no connection.
func (e *exporter) answers() bool {
	return e.up && (!e.reading || time.Since(e.begun) < e.Servers.Timeout)
}

// begin notes that a reading begins, or has ended.
func (e *exporter) begin(reading bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reading, e.begun = reading, time.Now()
}

// read reads the locks.
func (e *exporter) read(ctx context.Context) error {
	e.begin(true)
	defer e.begin(false)
	found, err := inspect.Find(ctx, e.s, e.Paths)
	if errors.Is(err, zk.ErrNoNode) && e.number > 0 { // the servers remove containers that are empty
		found, err = &inspect.Snapshot{At: time.Now()}, nil
	}
	if err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.up = false
		e.failures++
		return err
	}
	e.number++
	sessions := e.s.sessions()
	all := inspect.Diagnose(found.Locks, inspect.Checks{Now: time.Now(), Long: e.Long, Sizes: e.Size, Sessions: sessions})
	confirmed := inspect.Confirmed(e.before, all)
	e.before = all
	e.sampler.Add(found)
	rates := e.sampler.Rates()
	took := found.At.Sub(e.ratesAt).Seconds()
	e.ratesAt = found.At
	found.Locks = slices.DeleteFunc(found.Locks, func(l inspect.Lock) bool { return l.Recipe == inspect.DoubleBarrier || l.Recipe == inspect.Unknown })
	slices.SortStableFunc(found.Locks, func(a, b inspect.Lock) int { return cmp.Compare(waiting(&b), waiting(&a)) })

	e.mu.Lock()
	defer e.mu.Unlock()
	e.up, e.last, e.unasked = true, *found, len(sessions.Unasked)
	e.findings = make(map[findingKey]int)
	for _, f := range confirmed {
		if len(f.Locks) == 0 { // of the servers
			e.findings[findingKey{"", f.Problem}]++
		}
		for _, lock := range f.Locks {
			e.findings[findingKey{label(lock), f.Problem}]++
		}
	}
	e.count(rates, took)
	return nil
}

// count adds the grants since the last reading.
func (e *exporter) count(rates []inspect.Rate, took float64) {
	for i := range rates {
		r := &rates[i]
		g := e.grants[r.Lock.Path]
		if g == nil {
			g = new(grants)
			e.grants[r.Lock.Path] = g
		}
		g.number = e.number
		if r.Counted {
			g.n += math.Round(r.Grants * took)
		}
	}
	const forget = 1000 // readings, as the sampler does
	for path, g := range e.grants {
		if e.number-g.number > forget {
			delete(e.grants, path)
		}
	}
}
