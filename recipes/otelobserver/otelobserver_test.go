package otelobserver_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/otelobserver"
)

func TestASlowRequestShowsThatItWaitedForALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		ahead, err := recipes.NewMutex(s.connect("ahead"), "/orders").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(3*time.Second, func() { _ = ahead.Release(context.Background()) })
		ctx, request := s.request()
		lease, err := recipes.NewMutex(s.client, "/orders").Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if trace.SpanFromContext(lease.Context()) != request {
			t.Error("the holder's work is not in the span of its request")
		}
		inner, err := recipes.NewMutex(s.client, "/orders").Acquire(lease.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = inner.Release(t.Context())
		time.Sleep(2 * time.Second)
		if err := lease.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.close()

		wait, hold := s.one("lock wait"), s.one("lock hold")
		for _, span := range []sdktrace.ReadOnlySpan{wait, hold} {
			if span.Parent().SpanID() != request.SpanContext().SpanID() {
				t.Errorf("%q is no child of the request", span.Name())
			}
			for key, want := range map[string]string{"zk.lock.path": "/orders", "zk.lock.recipe": "mutex", "zk.lock.token": lease.Token().String()} {
				if got := value(span.Attributes(), key); got != want {
					t.Errorf("%q: %s is %q, want %q", span.Name(), key, got, want)
				}
			}
			if span.Status().Code != codes.Unset {
				t.Errorf("%q: %v", span.Name(), span.Status())
			}
		}
		if d := wait.EndTime().Sub(wait.StartTime()); d < 3*time.Second || d > 4*time.Second {
			t.Errorf("the wait lasts %v", d)
		}
		if d := hold.EndTime().Sub(hold.StartTime()); d < 2*time.Second || d > 3*time.Second || !hold.StartTime().Equal(wait.EndTime()) {
			t.Errorf("the hold lasts %v from %v, and the wait ends at %v", d, hold.StartTime(), wait.EndTime())
		}
		if !slices.Equal(events(wait), []string{"enqueued"}) || value(wait.Events()[0].Attributes, "zk.lock.ahead") != "1" {
			t.Errorf("events of the wait: %v", wait.Events())
		}
		if value(wait.Attributes(), "zk.lock.outcome") != "acquired" || len(hold.Links()) != 1 || hold.Links()[0].SpanContext.SpanID() != wait.SpanContext().SpanID() {
			t.Errorf("the wait is %v, and the hold has links to %v", wait.Attributes(), hold.Links())
		}
	})
}

func TestALostLeaseIsAnErrorWithItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		ctx, _ := s.request()
		lease, err := recipes.NewMutex(s.client, "/l").Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		lease.OnRevoke(func(*recipes.Lease) {})
		if err := s.connect("other").Revoke(t.Context(), lease.Node()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		s.Client("traced").Disconnect()
		s.Client("traced").Refuse()
		time.Sleep(time.Second)
		s.Client("traced").Heal()
		time.Sleep(timeout)
		s.Client("traced").Refuse()
		<-lease.Lost()
		s.Client("traced").Heal()
		s.close()

		hold := s.one("lock hold")
		want := []string{"revocation requested", "suspended", "resumed", "suspended", "exception"}
		if got := events(hold); !slices.Equal(got, want) {
			t.Errorf("events %q, want %q", got, want)
		}
		if got := hold.Status(); got.Code != codes.Error || got.Description != lease.Err().Error() {
			t.Errorf("status %v, want %v", got, lease.Err())
		}
		if got := value(hold.Attributes(), "zk.lock.loss_reason"); got != string(recipes.LossDeadlinePassed) {
			t.Errorf("lost because %q", got)
		}
	})
}

// A re-entry that outlasts the outermost lease is lost as the outermost one is.
func TestTheLossOfAReentryHasItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		mutex := recipes.NewMutex(s.client, "/l")
		outer, err := mutex.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		inner, err := mutex.Acquire(outer.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := outer.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Expire(inner.SessionID())
		<-inner.Lost()
		s.close()
		hold := s.one("lock hold")
		if got := hold.Status(); got.Code != codes.Error || got.Description != inner.Err().Error() {
			t.Errorf("status %v, want %v", got, inner.Err())
		}
		if got := value(hold.Attributes(), "zk.lock.loss_reason"); got != string(recipes.LossSessionExpired) {
			t.Errorf("lost because %q", got)
		}
	})
}

func TestALeaseOfAClientThatIsClosedIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		if _, err := recipes.NewElection(s.client, "/e").Campaign(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.close()
		hold := s.one("lock hold")
		if hold.Status().Code != codes.Unset || value(hold.Attributes(), "zk.lock.loss_reason") != string(recipes.LossClientClosed) {
			t.Errorf("%v, %v", hold.Status(), hold.Attributes())
		}
		if hold.Parent().IsValid() || value(hold.Attributes(), "zk.lock.recipe") != "election" {
			t.Errorf("without a request: %v, %v", hold.Parent(), hold.Attributes())
		}
	})
}

// Waits that end without a lease: by a deadline, refused, and with their client.
func TestAWaitThatGivesUpEndsWithTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		if _, err := recipes.NewMutex(s.connect("ahead"), "/l").Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		lock := recipes.NewMutex(s.client, "/l")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := lock.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if _, err := lock.TryAcquire(t.Context()); !errors.Is(err, recipes.ErrNotAcquired) {
			t.Error(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if _, err := lock.Acquire(t.Context()); !errors.Is(err, recipes.ErrClosed) {
				t.Error(err)
			}
		}()
		time.Sleep(time.Second)
		_ = s.client.Close(t.Context())
		<-done
		s.close()
		waits := s.ended("lock wait")
		if len(waits) != 3 || len(s.ended("lock hold")) != 0 {
			t.Fatalf("%d waits", len(waits))
		}
		for i, want := range []struct {
			outcome string
			status  sdktrace.Status
		}{
			{"gave up", sdktrace.Status{Code: codes.Error, Description: context.DeadlineExceeded.Error()}},
			{"refused", sdktrace.Status{}},
			{"gave up", sdktrace.Status{Code: codes.Error, Description: recipes.ErrClosed.Error()}},
		} {
			if got := value(waits[i].Attributes(), "zk.lock.outcome"); got != want.outcome || waits[i].Status() != want.status {
				t.Errorf("wait %d: %q, %+v, want %+v", i, got, waits[i].Status(), want)
			}
		}
		if d := waits[0].EndTime().Sub(waits[0].StartTime()); d < time.Second || d > 2*time.Second {
			t.Errorf("the wait lasts %v", d)
		}
	})
}

func TestThePathIsMapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, otelobserver.WithLabel(func(string) string { return "/orders/…" }))
		lease, err := recipes.NewSemaphore(s.client, "/orders/4711", 3).AcquireN(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		_ = lease.Release(t.Context())
		s.close()
		for _, span := range s.spans.Ended() {
			if got := value(span.Attributes(), "zk.lock.path"); got != "/orders/…" {
				t.Errorf("%q: %q", span.Name(), got)
			}
		}
		if got := value(s.one("lock hold").Attributes(), "zk.lock.permits"); got != "2" {
			t.Errorf("%s permits", got)
		}
	})
}

// Two observers of one client make separate spans; one observer has the global provider.
func TestTwoObserversDoNotMeet(t *testing.T) {
	before := otel.GetTracerProvider()
	defer otel.SetTracerProvider(before)
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		global := tracetest.NewSpanRecorder()
		otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(global)))
		client := s.connect("both", recipes.WithObserver(otelobserver.New()),
			recipes.WithObserver(otelobserver.New(otelobserver.WithTracerProvider(s.provider))))
		if err := recipes.NewMutex(client, "/l").Do(t.Context(), func(context.Context, *recipes.Lease) error { return nil }); err != nil {
			t.Fatal(err)
		}
		_ = client.Close(t.Context())
		for name, recorder := range map[string]*tracetest.SpanRecorder{"global": global, "own": s.spans} {
			if n := len(recorder.Ended()); n != 2 {
				t.Errorf("%s: %d spans", name, n)
			}
		}
	})
}
