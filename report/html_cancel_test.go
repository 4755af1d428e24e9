package report_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

// stopper calls end once at bytes are written, and counts the writes after that.
type stopper struct {
	bytes.Buffer
	at, after int
	end       func()
}

func (s *stopper) Write(p []byte) (int, error) {
	if s.Len() >= s.at {
		s.after++
		s.end()
	}
	return s.Buffer.Write(p)
}

func TestNoPageIsWrittenWhenItsContextHasEnded(t *testing.T) {
	h, err := histories.ReadFile("testdata/zk-lock.jsonl.zst")
	if err != nil {
		t.Fatal(err)
	}
	r, err := checker.Check(t.Context(), h, checker.WithEngine(checker.Interval))
	if err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("stopped")
	for _, at := range []int{0, len(h.Events) / 2, len(h.Events) - 1} {
		ctx, end := context.WithCancelCause(context.Background())
		after := 0
		var page bytes.Buffer
		err := report.HTML(ctx, &page, "x", h.Header, func(yield func(*histories.Event, error) bool) {
			for i := range h.Events {
				if i == at {
					end(stopped)
				}
				if i > at {
					after++
				}
				if !yield(&h.Events[i], nil) {
					return
				}
			}
		}, r)
		if !errors.Is(err, stopped) || after > 0 || page.Len() > 0 {
			t.Errorf("ended at event %d: %d more were read, and %d bytes written; %v", at, after, page.Len(), err)
		}
	}
	ctx, end := context.WithCancelCause(context.Background())
	page := &stopper{at: 1000, end: func() { end(stopped) }}
	events := func(yield func(*histories.Event, error) bool) {
		for i := range h.Events {
			if !yield(&h.Events[i], nil) {
				return
			}
		}
	}
	if err := report.HTML(ctx, page, "x", h.Header, events, r); !errors.Is(err, stopped) || page.after != 1 {
		t.Errorf("it was written to %d times after the end; %v", page.after, err)
	}
}
