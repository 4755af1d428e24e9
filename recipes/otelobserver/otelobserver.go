// Package otelobserver makes OpenTelemetry spans for the waits for locks and for the times during
// which they are held:
//
//	client, err := recipes.Connect(ctx, servers,
//		recipes.WithObserver(otelobserver.New()))
//
// Both spans are children of the span in the context of the acquire, so the trace of a slow
// request shows the lock that it waited for. Without a span in the context they are root spans.
// Re-entries make no spans.
//
// "lock wait" lasts from the call of an acquire, a try or a campaign to its end; its event
// "enqueued", with zk.lock.ahead, marks a place taken in the queue. When the acquire fails, the
// span has the error and status Error; a try that is refused is not an error.
//
// "lock hold" lasts from the grant to the release or the loss, and has a link to the
// wait. Its events are "suspended", "resumed" and "revocation requested". When the lease is lost,
// the span has zk.lock.loss_reason, the error of Lease.Err, and status Error. When the client was
// closed while it held the lock, the span has zk.lock.loss_reason only.
//
// The attributes:
//
//	zk.lock.path         the lock's path, see [WithLabel]
//	zk.lock.recipe       "mutex", "semaphore" and so on, see recipes.Acquiring
//	zk.lock.outcome      of a wait: "acquired", "refused" (a try) or "gave up"
//	zk.lock.ahead        of a place: how many contenders are ahead, see recipes.Enqueued
//	zk.lock.node         name of the contender's node, without the lock's path
//	zk.lock.token        of a lease, as recipes.Token prints it
//	zk.lock.session      of a lease or a place, as ZooKeeper prints it
//	zk.lock.permits      of a lease of a semaphore: how many permits it holds
//	zk.lock.loss_reason  of a lease that was lost: a recipes.LossReason
//
// The spans hold no other values: no data of nodes, no credentials. The observer has no goroutine
// and no table. It keeps the state of an acquire in the context of the acquire and of its lease.
package otelobserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/zkverify/zkverify/recipes"
)

// config holds the options of New.
type config struct {
	provider trace.TracerProvider
	label    func(path string) string
}

// Option configures an observer.
type Option func(*config)

// WithTracerProvider sets the provider of the tracer that makes the spans. Default:
// [otel.GetTracerProvider] at the time of New.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(c *config) { c.provider = provider }
}

// WithLabel sets the function that returns the attribute zk.lock.path for a lock's path. Default:
// the path itself. Use it where paths hold values that must not be in a trace.
func WithLabel(label func(path string) string) Option {
	return func(c *config) { c.label = label }
}

// New returns an observer that makes the spans. It may serve any number of clients.
func New(options ...Option) recipes.Observer {
	cfg := config{label: func(path string) string { return path }}
	for _, o := range options {
		o(&cfg)
	}
	if cfg.provider == nil {
		cfg.provider = otel.GetTracerProvider()
	}
	t := &tracing{label: cfg.label, tracer: cfg.provider.Tracer("github.com/zkverify/zkverify/recipes/otelobserver")}
	return recipes.Observer{
		Acquiring: t.acquiring,
		Enqueued:  t.enqueued,
		GaveUp:    t.gaveUp,
		Acquired:  t.acquired,
		Suspended: func(l *recipes.Lease) { t.event(l, "suspended") },
		Resumed:   func(l *recipes.Lease) { t.event(l, "resumed") },
		Lost:      t.lost,
		Released: func(l *recipes.Lease, held time.Duration) {
			if a := t.of(l.Context()); a != nil {
				a.hold.End(trace.WithTimestamp(a.granted.Add(held)))
			}
		},
		RevokeRequested: func(l *recipes.Lease) { t.event(l, "revocation requested") },
	}
}

// tracing is one observer. It is also the key of its acquires in their contexts, so that two
// observers of one client do not share acquires.
type tracing struct {
	label  func(path string) string
	tracer trace.Tracer
}

// acquire holds the spans of one acquire and of its lease.
type acquire struct {
	recipes.Acquiring
	wait trace.Span

	// Set when it is granted, and used by the goroutine of the client's notifications alone.
	hold    trace.Span
	granted time.Time
}

// of returns the acquire of a context, or nil if the observer has not recorded it.
func (t *tracing) of(ctx context.Context) *acquire {
	a, _ := ctx.Value(t).(*acquire)
	return a
}

// common returns the attributes that both spans of an acquire have.
func (t *tracing) common(a recipes.Acquiring) trace.SpanStartEventOption {
	return trace.WithAttributes(attribute.String("zk.lock.path", t.label(a.Path)), attribute.String("zk.lock.recipe", a.Recipe))
}

// acquiring begins a wait. Its span does not become the context's span: the work of the lease's
// holder belongs to the request, not to the wait, which has ended by then.
func (t *tracing) acquiring(ctx context.Context, a recipes.Acquiring) context.Context {
	_, span := t.tracer.Start(ctx, "lock wait", trace.WithTimestamp(a.Asked), t.common(a))
	return context.WithValue(ctx, t, &acquire{Acquiring: a, wait: span})
}

func (t *tracing) enqueued(ctx context.Context, e recipes.Enqueued) {
	if a := t.of(ctx); a != nil {
		ahead := attribute.Int("zk.lock.ahead", e.Ahead)
		a.wait.SetAttributes(ahead) // the value of the latest place
		a.wait.AddEvent("enqueued", trace.WithAttributes(ahead, attribute.String("zk.lock.node", e.Node), session(e.Session)))
	}
}

func (t *tracing) gaveUp(ctx context.Context, _ recipes.Acquiring, err error) {
	a := t.of(ctx)
	switch {
	case a == nil:
		return
	case errors.Is(err, recipes.ErrNotAcquired):
		a.wait.SetAttributes(outcome("refused"))
	default:
		a.wait.SetAttributes(outcome("gave up"))
		a.wait.RecordError(err)
		a.wait.SetStatus(codes.Error, err.Error())
	}
	a.wait.End()
}

func (t *tracing) acquired(l *recipes.Lease, waited time.Duration) {
	a := t.of(l.Context())
	if a == nil {
		return
	}
	a.granted = a.Asked.Add(waited)
	token := attribute.String("zk.lock.token", l.Token().String())
	a.wait.SetAttributes(outcome("acquired"), token)
	a.wait.End(trace.WithTimestamp(a.granted))
	_, a.hold = t.tracer.Start(l.Context(), "lock hold", trace.WithTimestamp(a.granted), t.common(a.Acquiring),
		trace.WithLinks(trace.Link{SpanContext: a.wait.SpanContext()}),
		trace.WithAttributes(token, session(l.SessionID()), attribute.Int("zk.lock.permits", l.Permits()),
			attribute.String("zk.lock.node", l.Node()[strings.LastIndexByte(l.Node(), '/')+1:])))
}

// event adds an event to the span of a hold.
func (t *tracing) event(l *recipes.Lease, name string) {
	if a := t.of(l.Context()); a != nil {
		a.hold.AddEvent(name)
	}
}

func (t *tracing) lost(l *recipes.Lease, why recipes.LossReason, held time.Duration) {
	a := t.of(l.Context())
	if a == nil {
		return
	}
	a.hold.SetAttributes(attribute.String("zk.lock.loss_reason", string(why)))
	if why != recipes.LossClientClosed {
		err := fmt.Errorf("%w: %w", recipes.ErrLeaseLost, why) // l.Err may tell of its release, before that of a re-entry
		a.hold.RecordError(err)
		a.hold.SetStatus(codes.Error, err.Error())
	}
	a.hold.End(trace.WithTimestamp(a.granted.Add(held)))
}

func outcome(how string) attribute.KeyValue { return attribute.String("zk.lock.outcome", how) }

func session(id int64) attribute.KeyValue {
	return attribute.String("zk.lock.session", fmt.Sprintf("0x%x", id))
}
