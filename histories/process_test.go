package histories

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded returns the events that f records, each as a line.
func recorded(t *testing.T, f func(r *Recorder)) (lines []string) {
	t.Helper()
	var b bytes.Buffer
	r, err := NewRecorder(&b, Header{})
	if err != nil {
		t.Fatal(err)
	}
	f(r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.Events {
		line := fmt.Sprintf("%d %s %s %s", e.Process, e.Type, e.Op, e.Lock)
		if e.Token != (Token{}) {
			line += fmt.Sprint(" token ", e.Token.Zxid)
		}
		if e.Error != "" {
			line += ": " + e.Error
		}
		lines = append(lines, line)
	}
	return lines
}

func TestAProcessPutsOnRecordWhatItDoes(t *testing.T) {
	busy := errors.New("busy")
	done := func() error { return nil }
	got := recorded(t, func(r *Recorder) {
		p, q := r.Process(), r.Process()
		if err := p.Acquire("a", done); err != nil {
			t.Error(err)
		}
		if err := q.Do(Event{Op: TryAcquire, Lock: "a"}, func(*Event) error { return busy }); !errors.Is(err, busy) {
			t.Error(err)
		}
		if err := p.Lost("a"); err != nil {
			t.Error(err)
		}
		if err := q.Do(Event{Op: Acquire, Lock: "a"}, func(e *Event) error { e.Token = Token{Zxid: 7}; return nil }); err != nil {
			t.Error(err)
		}
		unsure := fmt.Errorf("timed out: %w", ErrUnknown)
		if err := q.Release("a", func() error { return unsure }); !errors.Is(err, unsure) {
			t.Error(err)
		}
		if err := q.Acquire("a", done); err != nil || q.Number() != 2 {
			t.Error(q.Number(), err)
		}
	})
	want := []string{
		"0 invoke acquire a", "0 ok acquire a",
		"1 invoke try-acquire a", "1 fail try-acquire a: busy",
		"0 lost  a",
		"1 invoke acquire a", "1 ok acquire a token 7",
		"1 invoke release a", "1 info release a: timed out: it is not known whether it took effect",
		"2 invoke acquire a", "2 ok acquire a",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestWhatCannotBePutOnRecordIsNotDone(t *testing.T) {
	got := recorded(t, func(r *Recorder) {
		p := r.Process()
		err := p.Acquire("", func() error { t.Error("it was done"); return nil })
		var f *FormatError
		if !errors.As(err, &f) {
			t.Errorf("got %v, want a *FormatError", err)
		}
	})
	if len(got) != 0 {
		t.Error(got)
	}
}

func TestProcessesMayBeUsedAtTheSameTime(t *testing.T) {
	got := recorded(t, func(r *Recorder) {
		var all sync.WaitGroup
		for range 8 {
			p := r.Process()
			all.Go(func() {
				for range 20 {
					if err := p.Acquire("a", func() error { return ErrUnknown }); !errors.Is(err, ErrUnknown) {
						t.Error(err)
					}
					if err := p.Lost("a"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	})
	if len(got) != 8*20*3 {
		t.Errorf("%d events", len(got))
	}
}
