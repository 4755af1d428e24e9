// Package promobserver keeps Prometheus metrics of locks and of their clients' connections:
//
//	metrics, err := promobserver.New(prometheus.DefaultRegisterer)
//	…
//	client, err := recipes.Connect(ctx, servers,
//		recipes.WithObserver(metrics.Observer()),
//		recipes.WithConnectionListener(metrics.Listener()))
//
// Times are in seconds. By lock, with the label lock (see [WithLabel]):
//
//	zk_lock_enqueued_total         places taken in the queue
//	zk_lock_acquire_seconds        histogram: from the call of an acquire that succeeded to its return
//	zk_lock_hold_seconds           histogram: from there to the release or the loss
//	zk_lock_held                   leases held now
//	zk_lock_suspended              of these, leases whose session cannot reach its leader
//	zk_lock_suspensions_total      how often one of them was suspended
//	zk_lock_lost_total             leases lost, with the label reason too: a recipes.LossReason
//	zk_lock_revoke_requests_total  requests to give a lease back that its holder's client has seen
//	zk_lock_revoke_pending         leases held now whose holder was asked to give them back
//
// By lock and recipe, with the labels lock and recipe (see recipes.Acquiring):
//
//	zk_lock_acquires_total         acquires, tries and campaigns that have ended, with the label outcome too
//	zk_lock_waiting                acquires under way now
//	zk_lock_longest_wait_seconds   time since the oldest of them was called; 0 without one
//	zk_lock_longest_hold_seconds   time since the oldest lease held now was acquired; 0 without one
//
// The outcome is "acquired", "refused" (a try), "canceled" or "deadline exceeded" (the
// context of the acquire ended), "client closed", or "failed" with another error.
//
// A local hand-off takes no place in the queue. A re-entry takes none either, and does not count
// as an acquire.
//
// By client:
//
//	zk_client_open                 clients that have connected and are not closed
//	zk_client_connected            clients that are connected now
//	zk_client_suspensions_total    how often one was suspended
//	zk_client_sessions_lost_total  how often one lost its session, as far as it could tell
//
// To set another prefix or labels of your own use prometheus.WrapRegistererWithPrefix and
// prometheus.WrapRegistererWith.
package promobserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkverify/zkverify/recipes"
)

// config holds the options of New.
type config struct {
	label   func(path string) string
	buckets []float64
}

// Option configures Metrics.
type Option func(*config)

// WithLabel sets the function that returns the label lock for a lock's path. Default: the path
// itself. Every value of the label makes time series that stay until the process ends: where
// paths hold names of orders or users, map them to a few kinds.
func WithLabel(label func(path string) string) Option {
	return func(c *config) { c.label = label }
}

// WithBuckets sets the upper bounds, in seconds, of the histograms' buckets.
// Default: 1 ms, doubled up to 65.536 s.
func WithBuckets(bounds ...float64) Option {
	return func(c *config) { c.buckets = append([]float64{}, bounds...) }
}

// Metrics holds the metrics of one process. It may serve any number of clients.
type Metrics struct {
	label func(path string) string

	enqueued, suspensions, lost, revoked, acquires *prometheus.CounterVec
	held, suspended, asked                         *prometheus.GaugeVec
	acquire, hold                                  *prometheus.HistogramVec
	current                                        *current

	open, connected               prometheus.Gauge
	clientSuspensions, clientLost prometheus.Counter

	mu      sync.Mutex
	paused  map[*recipes.Lease]struct{} // suspended leases
	pending map[*recipes.Lease]struct{} // leases whose holder was asked to release
}

// New registers the metrics. It returns the errors of the registerer, such as
// prometheus.AlreadyRegisteredError: make one Metrics for all clients of a
// process.
func New(registerer prometheus.Registerer, options ...Option) (*Metrics, error) {
	cfg := config{
		label:   func(path string) string { return path },
		buckets: prometheus.ExponentialBuckets(0.001, 2, 17),
	}
	for _, o := range options {
		o(&cfg)
	}
	m := newMetrics(cfg)
	all := []prometheus.Collector{
		m.enqueued, m.acquire, m.hold, m.held, m.suspended, m.suspensions, m.lost, m.revoked, m.asked,
		m.acquires, m.current, m.open, m.connected, m.clientSuspensions, m.clientLost,
	}
	var errs []error
	for i, c := range all {
		if err := registerer.Register(c); err != nil {
			errs = append(errs, err)
			all[i] = nil // registered by another Metrics
		}
	}
	if len(errs) > 0 {
		for _, c := range all {
			if c != nil {
				registerer.Unregister(c)
			}
		}
		return nil, errors.Join(errs...)
	}
	return m, nil
}

// newMetrics creates the metrics.
func newMetrics(cfg config) *Metrics {
	m := &Metrics{
		label: cfg.label, current: newCurrent(),
		paused: make(map[*recipes.Lease]struct{}), pending: make(map[*recipes.Lease]struct{}),
	}
	labels := []string{"lock"}
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: cfg.buckets}, labels)
	}
	m.enqueued = counter("zk_lock_enqueued_total", "Places taken in the queue of a lock.")
	m.acquire = histogram("zk_lock_acquire_seconds", "Time from the call of an acquire that succeeded to its return.")
	m.hold = histogram("zk_lock_hold_seconds", "Time from an acquire to the release or the loss of the lease.")
	m.held = gauge("zk_lock_held", "Leases held now.")
	m.suspended = gauge("zk_lock_suspended", "Leases held now whose session cannot reach its leader.")
	m.suspensions = counter("zk_lock_suspensions_total", "Times that a lease was suspended.")
	m.lost = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "zk_lock_lost_total", Help: "Leases lost before they were released, by reason."}, []string{"lock", "reason"})
	m.revoked = counter("zk_lock_revoke_requests_total", "Requests to give a lease back.")
	m.asked = gauge("zk_lock_revoke_pending", "Leases held now whose holder was asked to give them back.")
	m.acquires = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "zk_lock_acquires_total", Help: "Acquires that have ended, by outcome."}, []string{"lock", "recipe", "outcome"})
	m.open = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "zk_client_open", Help: "Clients that have connected and are not closed."})
	m.connected = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "zk_client_connected", Help: "Clients that are connected now."})
	m.clientSuspensions = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "zk_client_suspensions_total", Help: "Times that a client was suspended."})
	m.clientLost = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "zk_client_sessions_lost_total", Help: "Times that a client lost its session, as far as it could tell."})
	return m
}

// Observer returns the observer that keeps the metrics of locks.
func (m *Metrics) Observer() recipes.Observer {
	return recipes.Observer{
		Acquiring: m.acquiring,
		GaveUp: func(ctx context.Context, _ recipes.Acquiring, err error) {
			if a := m.of(ctx); a != nil {
				m.current.gaveUp(a)
				m.acquires.WithLabelValues(a.lock, a.recipe, outcome(ctx, err)).Inc()
			}
		},
		Enqueued: func(_ context.Context, e recipes.Enqueued) {
			m.enqueued.WithLabelValues(m.label(e.Path)).Inc()
		},
		Acquired: m.acquired,
		Suspended: func(l *recipes.Lease) {
			lock := m.label(l.Path())
			m.mu.Lock()
			defer m.mu.Unlock()
			m.paused[l] = struct{}{}
			m.suspensions.WithLabelValues(lock).Inc()
			m.suspended.WithLabelValues(lock).Inc()
		},
		Resumed: m.resumed,
		Lost: func(l *recipes.Lease, why recipes.LossReason, held time.Duration) {
			m.lost.WithLabelValues(m.label(l.Path()), string(why)).Inc()
			m.over(l, held)
		},
		Released: m.over,
		RevokeRequested: func(l *recipes.Lease) {
			lock := m.label(l.Path())
			m.revoked.WithLabelValues(lock).Inc()
			m.mu.Lock()
			defer m.mu.Unlock()
			if _, known := m.pending[l]; !known {
				m.pending[l] = struct{}{}
				m.asked.WithLabelValues(lock).Inc()
			}
		},
	}
}

// of returns the acquire of a context, or nil if these metrics have not recorded it.
func (m *Metrics) of(ctx context.Context) *acquire {
	a, _ := ctx.Value(m).(*acquire)
	return a
}

func (m *Metrics) acquiring(ctx context.Context, asked recipes.Acquiring) context.Context {
	a := &acquire{kind: kind{m.label(asked.Path), asked.Recipe}, asked: asked.Asked}
	if m.current.begins(a) {
		// The counters exist before their first increment, because rates need the zero.
		for _, outcome := range outcomes {
			m.acquires.WithLabelValues(a.lock, a.recipe, outcome)
		}
	}
	return context.WithValue(ctx, m, a)
}

func (m *Metrics) acquired(l *recipes.Lease, waited time.Duration) {
	if a := m.of(l.Context()); a != nil {
		m.current.granted(a, waited)
		m.acquires.WithLabelValues(a.lock, a.recipe, acquired).Inc()
	}
	lock := m.label(l.Path())
	m.acquire.WithLabelValues(lock).Observe(waited.Seconds())
	m.held.WithLabelValues(lock).Inc()
	for _, why := range recipes.LossReasons() { // with the value 0, as in acquiring
		m.lost.WithLabelValues(lock, string(why))
	}
	m.suspensions.WithLabelValues(lock)
	m.suspended.WithLabelValues(lock)
	m.revoked.WithLabelValues(lock)
	m.asked.WithLabelValues(lock)
}

// resumed ends a suspension, if there is one.
func (m *Metrics) resumed(l *recipes.Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.paused[l]; known {
		delete(m.paused, l)
		m.suspended.WithLabelValues(m.label(l.Path())).Dec()
	}
}

// over records the end of a lease.
func (m *Metrics) over(l *recipes.Lease, held time.Duration) {
	lock := m.label(l.Path())
	m.hold.WithLabelValues(lock).Observe(held.Seconds())
	m.held.WithLabelValues(lock).Dec()
	if a := m.of(l.Context()); a != nil {
		m.current.over(a)
	}
	m.resumed(l)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.pending[l]; known {
		delete(m.pending, l)
		m.asked.WithLabelValues(lock).Dec()
	}
}

// Listener returns a connection listener that keeps the metrics of one client.
// Call it for each client.
func (m *Metrics) Listener() func(recipes.ConnectionState) {
	open, connected := false, false // the calls do not overlap
	return func(state recipes.ConnectionState) {
		switch closed := state == recipes.ConnClosed; {
		case !open && !closed:
			m.open.Inc()
		case open && closed:
			m.open.Dec()
		}
		open = state != recipes.ConnClosed
		switch state {
		case recipes.ConnSuspended:
			m.clientSuspensions.Inc()
		case recipes.ConnLost:
			m.clientLost.Inc()
		}
		now := state == recipes.ConnConnected || state == recipes.ConnReconnected
		switch {
		case now && !connected:
			m.connected.Inc()
		case !now && connected:
			m.connected.Dec()
		}
		connected = now
	}
}
