package otelobserver_test

import (
	"context"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/otelobserver"
	"github.com/zkverify/zkverify/zktest"
)

// No test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	tick    = 200 * time.Millisecond
	timeout = 10 * time.Second
)

// setting holds servers and a client that is traced, in a bubble.
type setting struct {
	*zktest.Ensemble
	t        *testing.T
	spans    *tracetest.SpanRecorder
	provider *sdktrace.TracerProvider
	client   *recipes.Client
}

func start(t *testing.T, options ...otelobserver.Option) *setting {
	t.Helper()
	s := &setting{Ensemble: zktest.Start(t), t: t, spans: tracetest.NewSpanRecorder()}
	s.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s.spans))
	options = append(options, otelobserver.WithTracerProvider(s.provider))
	s.client = s.connect("traced", recipes.WithObserver(otelobserver.New(options...)))
	return s
}

func (s *setting) connect(name string, options ...recipes.Option) *recipes.Client {
	s.t.Helper()
	options = append(options, recipes.WithDialer(s.Client(name).DialContext), recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))
	client, err := recipes.Connect(s.t.Context(), s.Servers(), options...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

// request begins the span of a request.
func (s *setting) request() (context.Context, trace.Span) {
	return s.provider.Tracer("test").Start(s.t.Context(), "request")
}

// close closes the client, and fails the test when a span of it is left open.
func (s *setting) close() {
	s.t.Helper()
	if err := s.client.Close(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	ended := map[trace.SpanID]bool{}
	for _, span := range s.spans.Ended() {
		ended[span.SpanContext().SpanID()] = true
	}
	for _, span := range s.spans.Started() {
		if span.Name() != "request" && !ended[span.SpanContext().SpanID()] {
			s.t.Errorf("%q of %v has not ended", span.Name(), span.Attributes())
		}
	}
}

// ended returns the spans of a name that have ended.
func (s *setting) ended(name string) (spans []sdktrace.ReadOnlySpan) {
	for _, span := range s.spans.Ended() {
		if span.Name() == name {
			spans = append(spans, span)
		}
	}
	return spans
}

// one returns the only span of a name that has ended.
func (s *setting) one(name string) sdktrace.ReadOnlySpan {
	s.t.Helper()
	spans := s.ended(name)
	if len(spans) != 1 {
		s.t.Fatalf("%d spans %q have ended", len(spans), name)
	}
	return spans[0]
}

// value returns an attribute, "" if it is not set.
func value(attributes []attribute.KeyValue, key string) string {
	for _, a := range attributes {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

func events(span sdktrace.ReadOnlySpan) (names []string) {
	for _, e := range span.Events() {
		names = append(names, e.Name)
	}
	return names
}
