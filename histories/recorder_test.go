package histories

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAnInvokeIsOnDiskBeforeRecordReturns(t *testing.T) {
	for _, name := range []string{"h.jsonl", "h.jsonl.zst"} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/" + name
			r, err := Create(path, Header{Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close() //nolint:errcheck // closed below too
			for p := range 3 {
				if _, err := r.Record(Event{Type: Suspended, Process: p}); err != nil {
					t.Fatal(err)
				}
				if _, err := r.Record(Event{Type: Invoke, Process: p, Op: Acquire, Lock: "a"}); err != nil {
					t.Fatal(err)
				}
				h, err := ReadFile(path) // the file as a crash would leave it
				if err != nil {
					t.Fatal(err)
				}
				if len(h.Events) != 2*(p+1) {
					t.Fatalf("%d events are on disk, want %d", len(h.Events), 2*(p+1))
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if h, err := ReadFile(path); err != nil || h.Truncated {
				t.Fatalf("after Close: %v, %+v", err, h)
			}
		})
	}
}

func TestOtherEventsAreOnDiskSoon(t *testing.T) {
	path := t.TempDir() + "/h.jsonl"
	r, err := Create(path, Header{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read from
	if _, err := r.Record(Event{Type: Crash, Process: 1}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, written, _ := r.Counts(); written == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it was never written")
		}
	}
	if h, err := ReadFile(path); err != nil || len(h.Events) != 1 {
		t.Fatal(err)
	}
}

func TestRecordingFromManyGoroutinesLosesNothingAndKeepsTheOrder(t *testing.T) {
	path := t.TempDir() + "/h.jsonl.zst"
	r, err := Create(path, Header{})
	if err != nil {
		t.Fatal(err)
	}
	const clients, rounds = 8, 100
	var wg sync.WaitGroup
	for p := range clients {
		wg.Go(func() {
			for range rounds {
				for _, typ := range []Type{Invoke, OK} {
					got, err := r.Record(Event{Type: typ, Process: p, Op: Acquire, Lock: "a"})
					if err != nil || got.Time > r.Elapsed() {
						t.Errorf("%v, %v", got.Time, err)
					}
				}
			}
		})
	}
	wg.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if n, written, refused := r.Counts(); n != 2*clients*rounds || written != n || refused != 0 {
		t.Errorf("%d recorded, %d written, %d refused", n, written, refused)
	}
	h, err := ReadFile(path) // times that run backwards would be refused
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Events) != 2*clients*rounds {
		t.Errorf("%d events were read", len(h.Events))
	}
}

func TestAnEventThatBreaksTheFormatIsRefusedAndTheFileStaysReadable(t *testing.T) {
	path := t.TempDir() + "/h.jsonl"
	r, err := Create(path, Header{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Record(Event{Type: Crash, Process: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Record(Event{Type: Lost, Process: 1, Lock: "a"}); !errors.Is(err, ErrRetired) {
		t.Errorf("a late lost of a crashed process: %v", err)
	}
	if _, err := r.Record(Event{Type: OK, Process: 2, Op: Acquire, Lock: "a"}); err == nil {
		t.Error("a completion without an invocation was recorded")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Record(Event{Type: Crash, Process: 3}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	h, err := ReadFile(path)
	if err != nil || len(h.Events) != 1 {
		t.Fatalf("%v, %d events", err, len(h.Events))
	}
}

// fullDisk accepts n bytes.
type fullDisk struct{ n int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.n -= len(p); d.n < 0 {
		return 0, os.ErrPermission
	}
	return len(p), nil
}
func (d *fullDisk) Flush() error { return nil }
func (d *fullDisk) Close() error { return nil }

func TestTheFirstFailureToWriteStopsTheRun(t *testing.T) {
	r, err := newRecorder(&fullDisk{1000}, Header{})
	if err != nil {
		t.Fatal(err)
	}
	invoke := Event{Type: Invoke, Op: Acquire, Lock: strings.Repeat("x", 2000)}
	if _, err := r.Record(invoke); !errors.Is(err, os.ErrPermission) {
		t.Fatalf("the failed write: %v", err)
	}
	select {
	case <-r.Failed():
	default:
		t.Error("Failed is not closed")
	}
	_, again := r.Record(Event{Type: Crash, Process: 9})
	for _, err := range []error{again, r.Err(), r.Close(), r.Close()} {
		if !errors.Is(err, os.ErrPermission) {
			t.Errorf("a later call: %v", err)
		}
	}
	if n, written, _ := r.Counts(); n == written {
		t.Error("the event that was lost counts as written")
	}
}

func TestARecorderThatCannotStartSaysSo(t *testing.T) {
	if _, err := newRecorder(&fullDisk{10}, Header{}); err == nil {
		t.Error("no error for a disk that is full")
	}
	if _, err := Create(t.TempDir()+"/h.edn", Header{}); err == nil {
		t.Error("no error for EDN")
	}
}
