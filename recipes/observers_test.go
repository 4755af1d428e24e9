package recipes

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
)

// recorderKey is the context key of the names of the recorders that have been told of an acquire.
type recorderKey struct{}

// recorder returns an observer that records every call under a name.
func recorder(name string, calls *[]string) Observer {
	note := func(call string) { *calls = append(*calls, name+" "+call) }
	return Observer{
		Acquiring: func(ctx context.Context, a Acquiring) context.Context {
			note("acquiring " + a.Path)
			before, _ := ctx.Value(recorderKey{}).(string)
			return context.WithValue(ctx, recorderKey{}, before+name)
		},
		GaveUp: func(ctx context.Context, a Acquiring, err error) {
			note(fmt.Sprint("gave up ", a.Path, " ", err, " known to ", ctx.Value(recorderKey{})))
		},
		Enqueued:        func(_ context.Context, e Enqueued) { note("enqueued " + e.Path) },
		Acquired:        func(_ *Lease, d time.Duration) { note("acquired " + d.String()) },
		Suspended:       func(*Lease) { note("suspended") },
		Resumed:         func(*Lease) { note("resumed") },
		Lost:            func(_ *Lease, why LossReason, d time.Duration) { note("lost " + string(why) + " " + d.String()) },
		Released:        func(_ *Lease, d time.Duration) { note("released " + d.String()) },
		RevokeRequested: func(*Lease) { note("asked") },
	}
}

func TestEveryObserverIsToldEverythingInOrder(t *testing.T) {
	t.Parallel()
	var calls []string
	o := observers(recorder("a", &calls), Observer{}, recorder("b", &calls))
	a := Acquiring{Path: "/x"}
	ctx := o.Acquiring(t.Context(), a)
	o.Enqueued(ctx, Enqueued{Path: "/x"})
	o.GaveUp(ctx, a, ErrNotAcquired)
	o.Acquired(nil, 1)
	o.Suspended(nil)
	o.Resumed(nil)
	o.Lost(nil, LossNodeDeleted, 2)
	o.Released(nil, 3)
	o.RevokeRequested(nil)
	want := []string{
		"a acquiring /x", "b acquiring /x", "a enqueued /x", "b enqueued /x",
		"a gave up /x " + ErrNotAcquired.Error() + " known to ab", "b gave up /x " + ErrNotAcquired.Error() + " known to ab",
		"a acquired 1ns", "b acquired 1ns", "a suspended", "b suspended",
		"a resumed", "b resumed", "a lost lock node deleted 2ns", "b lost lock node deleted 2ns", "a released 3ns", "b released 3ns", "a asked", "b asked",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("got  %q\nwant %q", calls, want)
	}
}

func TestWhatNoObserverHearsCostsNothing(t *testing.T) {
	t.Parallel()
	for _, all := range [][]Observer{nil, {{}}, {{}, {}}} {
		if o := reflect.ValueOf(observers(all...)); !o.IsZero() {
			t.Errorf("the observer of %d that hear nothing hears something", len(all))
		}
	}
	one := reflect.ValueOf(observers(Observer{}, Observer{Lost: func(*Lease, LossReason, time.Duration) {}}))
	for i := range one.NumField() {
		name := one.Type().Field(i).Name
		if one.Field(i).IsNil() != (name != "Lost") {
			t.Errorf("%s: nil is %v", name, one.Field(i).IsNil())
		}
	}
	full := reflect.ValueOf(recorder("", new([]string)))
	for i := range full.NumField() {
		if full.Field(i).IsNil() {
			t.Errorf("the recorder of these tests does not know %s", full.Type().Field(i).Name)
		}
	}
}

func TestAnObserverAmongOthersIsToldOfThePlace(t *testing.T) {
	t.Parallel()
	var calls []string
	o := observers(Observer{}, Observer{Enqueued: recorder("a", &calls).Enqueued})
	if o.Enqueued == nil {
		t.Fatal("no observer is told")
	}
	if o.Enqueued(t.Context(), Enqueued{Path: "/x"}); !slices.Equal(calls, []string{"a enqueued /x"}) {
		t.Errorf("%q", calls)
	}
}

func TestAClientHasAllObserversThatItWasGiven(t *testing.T) {
	t.Parallel()
	var calls []string
	var c config
	for _, name := range []string{"a", "b"} {
		WithObserver(recorder(name, &calls))(&c)
	}
	c.observer.Suspended(nil)
	if want := []string{"a suspended", "b suspended"}; !slices.Equal(calls, want) {
		t.Errorf("told %q, want %q", calls, want)
	}
}
