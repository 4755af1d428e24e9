package checker

import (
	"context"
	"errors"
	"testing"

	"github.com/zkverify/zkverify/histories"
)

// endsAt is a source that ends a context when it yields an event for the n-th time, over all
// passes, and counts the events requested after that.
type endsAt struct {
	h            *histories.History
	n            int
	end          func()
	asked, after int
}

func (s *endsAt) source() Source {
	return Source{Header: s.h.Header, Events: func(yield func(*histories.Event, error) bool) {
		for i := range s.h.Events {
			if s.asked++; s.asked == s.n {
				s.end()
			}
			if s.asked > s.n {
				s.after++
			}
			if !yield(&s.h.Events[i], nil) {
				return
			}
		}
	}}
}

func TestNothingGoesOnWhenTheContextHasEnded(t *testing.T) {
	h := haystack(t, 100, doubleHold)
	stopped := errors.New("stopped")
	for name, do := range map[string]func(context.Context, Source) error{
		"check": func(ctx context.Context, s Source) error {
			_, err := CheckEvents(ctx, s.Header, s.Events)
			return err
		},
		"explain": func(ctx context.Context, s Source) error {
			_, err := ExplainEvents(ctx, s, "", few(64))
			return err
		},
		"shrink": func(ctx context.Context, s Source) error {
			_, err := ShrinkEvents(ctx, s, "", nil, few(64))
			return err
		},
		"shrink a counter": func(ctx context.Context, s Source) error {
			_, err := ShrinkEvents(ctx, s, NoLostUpdatePlain, nil, few(64))
			if errors.Is(err, ErrNotViolated) {
				return nil
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole := &endsAt{h: h, n: -1, end: func() {}}
			if err := do(context.Background(), whole.source()); err != nil {
				t.Fatal(err)
			}
			passes := whole.asked / len(h.Events)
			for pass := range passes {
				for _, at := range []int{1, len(h.Events) / 2, len(h.Events)} {
					ctx, cancel := context.WithCancelCause(context.Background())
					s := &endsAt{h: h, n: pass*len(h.Events) + at, end: func() { cancel(stopped) }}
					if err := do(ctx, s.source()); !errors.Is(err, stopped) || s.after > 1 {
						t.Errorf("ended at event %d of pass %d: %d more were read; %v", at, pass+1, s.after, err)
					}
				}
			}
			if name == "shrink" && passes < 4 {
				t.Errorf("%d passes", passes)
			}
		})
	}
}

func TestShrinkingEndsWithItsContext(t *testing.T) {
	for _, opts := range [][]Option{nil, {few(64)}} {
		ctx, cancel := context.WithCancelCause(context.Background())
		stopped := errors.New("stopped")
		told := 0
		small, err := Shrink(ctx, haystack(t, 100, doubleHold), "", func(int) {
			told++
			cancel(stopped)
		}, opts...)
		if small != nil || !errors.Is(err, stopped) || told != 1 {
			t.Errorf("%v, %v; %d smaller ones were found", small, err, told)
		}
	}
}

// Shrinking ends wherever the history cannot be read again.
func TestAnErrorOfReadingEndsShrinkingAndExplaining(t *testing.T) {
	h := haystack(t, 100, doubleHold)
	bad := errors.New("bad disk")
	for pass := 1; pass <= 3; pass++ {
		source := func() Source {
			n := 0
			return Source{Header: h.Header, Events: func(yield func(*histories.Event, error) bool) {
				n++
				for i := range h.Events {
					if n == pass && i == len(h.Events)/2 {
						yield(&histories.Event{}, bad)
						return
					}
					if !yield(&h.Events[i], nil) {
						return
					}
				}
			}}
		}
		if _, err := ExplainEvents(context.Background(), source(), "", few(64)); !errors.Is(err, bad) {
			t.Errorf("explain, pass %d: %v", pass, err)
		}
		if _, err := ShrinkEvents(context.Background(), source(), "", nil, few(64)); !errors.Is(err, bad) {
			t.Errorf("shrink, pass %d: %v", pass, err)
		}
	}
}
