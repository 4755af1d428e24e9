package promobserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkverify/zkverify/recipes"
)

// kind is the pair of labels by which acquires are counted.
type kind struct{ lock, recipe string }

// acquire is stored in the context of an acquire and in that of its lease.
type acquire struct {
	kind
	asked, granted time.Time
}

// current holds the acquires under way and the leases held now. It is a collector, because the
// ages are computed when Prometheus collects them.
type current struct {
	waiting, longestWait, longestHold *prometheus.Desc

	mu    sync.Mutex
	seen  map[kind]struct{}
	waits map[*acquire]struct{}
	holds map[*acquire]struct{}
}

func newCurrent() *current {
	labels := []string{"lock", "recipe"}
	return &current{
		waiting:     prometheus.NewDesc("zk_lock_waiting", "Acquires under way now.", labels, nil),
		longestWait: prometheus.NewDesc("zk_lock_longest_wait_seconds", "Time since the oldest acquire under way was called, 0 without one.", labels, nil),
		longestHold: prometheus.NewDesc("zk_lock_longest_hold_seconds", "Time since the oldest lease held now was acquired, 0 without one.", labels, nil),
		seen:        make(map[kind]struct{}),
		waits:       make(map[*acquire]struct{}),
		holds:       make(map[*acquire]struct{}),
	}
}

// begins adds an acquire, and reports whether it is the first one of its kind.
func (c *current) begins(a *acquire) (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, known := c.seen[a.kind]
	c.seen[a.kind], c.waits[a] = struct{}{}, struct{}{}
	return !known
}

func (c *current) gaveUp(a *acquire) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waits, a)
}

func (c *current) granted(a *acquire, waited time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waits, a)
	a.granted = a.asked.Add(waited)
	c.holds[a] = struct{}{}
}

func (c *current) over(a *acquire) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.holds, a)
}

// Describe implements prometheus.Collector.
func (c *current) Describe(to chan<- *prometheus.Desc) {
	to <- c.waiting
	to <- c.longestWait
	to <- c.longestHold
}

// Collect implements prometheus.Collector.
func (c *current) Collect(to chan<- prometheus.Metric) {
	type values struct{ waiting, wait, hold float64 }
	now := time.Now()
	all := make(map[kind]*values)
	c.mu.Lock()
	for k := range c.seen {
		all[k] = new(values)
	}
	for a := range c.waits {
		v := all[a.kind]
		v.waiting++
		v.wait = max(v.wait, now.Sub(a.asked).Seconds())
	}
	for a := range c.holds {
		v := all[a.kind]
		v.hold = max(v.hold, now.Sub(a.granted).Seconds())
	}
	c.mu.Unlock()
	for k, v := range all {
		for desc, value := range map[*prometheus.Desc]float64{c.waiting: v.waiting, c.longestWait: v.wait, c.longestHold: v.hold} {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, k.lock, k.recipe)
		}
	}
}

// The outcomes of an acquire.
const (
	acquired         = "acquired"
	refused          = "refused"
	canceled         = "canceled"
	deadlineExceeded = "deadline exceeded"
	clientClosed     = "client closed"
	failed           = "failed"
)

var outcomes = []string{acquired, refused, canceled, deadlineExceeded, clientClosed, failed}

// outcome returns the outcome of an acquire with the context ctx that returned the error err.
func outcome(ctx context.Context, err error) string {
	switch {
	case errors.Is(err, recipes.ErrNotAcquired):
		return refused
	case errors.Is(err, recipes.ErrClosed):
		return clientClosed
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return deadlineExceeded
	case ctx.Err() != nil:
		return canceled
	}
	return failed
}
