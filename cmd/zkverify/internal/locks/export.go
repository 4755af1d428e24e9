package locks

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// exportCmd serves metrics of locks.
type exportCmd struct {
	Paths    []string       `arg:"" name:"path" help:"Export the locks at and below it."`
	Listen   string         `default:"127.0.0.1:9142" help:"Serve the metrics at http://ADDRESS/metrics." placeholder:"ADDRESS"`
	Interval time.Duration  `default:"10s" help:"Time between two readings, which are for at most half of the time."`
	Long     time.Duration  `default:"5m" help:"A holder whose node is older, while others wait, is a finding."`
	Size     map[string]int `help:"The size of a semaphore, which its nodes do not tell; default not checked." placeholder:"PATH=N"`
	Top      int            `default:"1000" help:"Export this many locks, those with the most waiters: each makes several time series." placeholder:"N"`

	Servers serversFlags `embed:""`
}

func (exportCmd) Help() string {
	return words.WithExamples("The metrics have the names that recipes/promobserver gives them where they mean the same; locks export counts the clients of all libraries, from their nodes. A hold or a wait is as old as its node. Findings are those of doctor that two readings have confirmed. While the servers do not answer, zk_lock_export_up is 0 and the metrics of locks are left out. Double barriers, and locks of unknown recipes, have findings alone.",
		"zkverify locks export --servers zk1:2181,zk2:2181,zk3:2181 /locks",
		"zkverify locks export --listen 0.0.0.0:9142 --interval 30s /")
}

// Validate is called by kong.
func (c *exportCmd) Validate() error {
	switch {
	case c.Interval <= 0:
		return fmt.Errorf("--interval must be positive, not %v", c.Interval)
	case c.Long <= 0:
		return fmt.Errorf("--long must be positive, not %v", c.Long)
	case c.Top < 1:
		return fmt.Errorf("--top must be positive, not %d", c.Top)
	}
	if _, port, err := net.SplitHostPort(c.Listen); err != nil || port == "" {
		return fmt.Errorf("--listen: %q is no address such as 127.0.0.1:9142", c.Listen)
	}
	for lock, n := range c.Size {
		if n < 1 {
			return fmt.Errorf("--size: %s=%d is not positive", lock, n)
		}
	}
	return nil
}

// Run is called by kong. An interrupt ends it without an error.
func (c *exportCmd) Run(ctx context.Context, con *Console) error {
	s, err := c.Servers.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	e := newExporter(c, s)
	if err := e.read(ctx); err != nil { // a path that does not exist, for example
		return explain(ctx, err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(e)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return refuse("--listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	const patience = 10 * time.Second
	server := &http.Server{Handler: mux, ReadHeaderTimeout: patience}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }() // ends with the close below
	defer server.Close()                            //nolint:errcheck // it ends
	con.say("serving http://%s/metrics", listener.Addr())
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return &Exit{exitUnsure, err}
		case <-time.After(max(c.Interval, e.took())):
		}
		if err := e.read(ctx); err != nil && ctx.Err() == nil {
			con.say("%v; trying again", explain(ctx, err))
		}
	}
}

// The metrics. Those of the first group have the names and labels of recipes/promobserver.
var (
	heldDesc    = prometheus.NewDesc("zk_lock_held", "Contenders that hold the lock now.", []string{"lock"}, nil)
	waitingDesc = prometheus.NewDesc("zk_lock_waiting", "Contenders that wait now.", []string{"lock", "recipe"}, nil)
	waitDesc    = prometheus.NewDesc("zk_lock_longest_wait_seconds", "Age of the oldest waiter's node, 0 without one.", []string{"lock", "recipe"}, nil)
	holdDesc    = prometheus.NewDesc("zk_lock_longest_hold_seconds", "Age of the oldest holder's node, 0 without one.", []string{"lock", "recipe"}, nil)

	grantsDesc   = prometheus.NewDesc("zk_lock_grants_total", "Contenders that left the queue, and permits that were taken.", []string{"lock"}, nil)
	findingsDesc = prometheus.NewDesc("zk_lock_findings", "Findings of zkverify locks doctor now.", []string{"lock", "problem"}, nil)

	upDesc         = prometheus.NewDesc("zk_lock_export_up", "1 if the last reading of the locks succeeded, and none has been under way for longer than --timeout.", nil, nil)
	failuresDesc   = prometheus.NewDesc("zk_lock_export_failures_total", "Readings that failed.", nil, nil)
	readDesc       = prometheus.NewDesc("zk_lock_export_last_reading_timestamp_seconds", "When the last reading that succeeded began.", nil, nil)
	tookDesc       = prometheus.NewDesc("zk_lock_export_reading_seconds", "How long it took.", nil, nil)
	locksDesc      = prometheus.NewDesc("zk_lock_export_locks", "Locks in use, also those that are left out (--top).", nil, nil)
	unreadableDesc = prometheus.NewDesc("zk_lock_export_unreadable", "Nodes that could not be read because of their permissions.", nil, nil)
	unaskedDesc    = prometheus.NewDesc("zk_lock_export_servers_unasked", "Servers that do not tell of their sessions, so that some findings are missing.", nil, nil)
)

// Describe implements prometheus.Collector.
func (e *exporter) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{heldDesc, waitingDesc, waitDesc, holdDesc, grantsDesc, findingsDesc, upDesc, failuresDesc, readDesc, tookDesc, locksDesc, unreadableDesc, unaskedDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (e *exporter) Collect(to chan<- prometheus.Metric) {
	e.mu.Lock()
	defer e.mu.Unlock()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	to <- prometheus.MustNewConstMetric(failuresDesc, prometheus.CounterValue, float64(e.failures))
	gauge(readDesc, float64(e.last.At.UnixMilli())/1e3)
	gauge(tookDesc, e.last.Took.Seconds())
	if !e.answers() {
		gauge(upDesc, 0)
		return
	}
	gauge(upDesc, 1)
	gauge(locksDesc, float64(len(e.last.Locks)))
	gauge(unreadableDesc, float64(len(e.last.Unreadable)))
	gauge(unaskedDesc, float64(e.unasked))
	now := time.Now()
	for i := range e.last.Locks[:min(e.Top, len(e.last.Locks))] {
		e.collect(&e.last.Locks[i], now, gauge)
		if g := e.grants[e.last.Locks[i].Path]; g != nil {
			to <- prometheus.MustNewConstMetric(grantsDesc, prometheus.CounterValue, g.n, label(e.last.Locks[i].Path))
		}
	}
	for key, n := range e.findings {
		gauge(findingsDesc, float64(n), key.lock, string(key.problem))
	}
}

// collect passes the metrics of a lock on. The sides of a read/write lock are recipes of their own.
func (e *exporter) collect(l *inspect.Lock, now time.Time, gauge func(*prometheus.Desc, float64, ...string)) {
	type values struct{ waiting, wait, hold float64 }
	sides := make(map[string]*values)
	held := 0.0
	for i := range l.Queue {
		c := &l.Queue[i]
		recipe := string(l.Recipe)
		if l.Recipe == inspect.ReadWrite {
			recipe = string(c.Kind)
		}
		v := sides[recipe]
		if v == nil {
			v = new(values)
			sides[recipe] = v
		}
		age := inspect.Age(now, c.Since).Seconds()
		if c.Holds {
			held++
			v.hold = max(v.hold, age)
		} else {
			v.waiting++
			v.wait = max(v.wait, age)
		}
	}
	lock := label(l.Path)
	gauge(heldDesc, held, lock)
	for recipe, v := range sides {
		gauge(waitingDesc, v.waiting, lock, recipe)
		gauge(waitDesc, v.wait, lock, recipe)
		gauge(holdDesc, v.hold, lock, recipe)
	}
}

// label returns a path as the value of a label, which is UTF-8.
func label(path string) string { return strings.ToValidUTF8(path, "\uFFFD") }
