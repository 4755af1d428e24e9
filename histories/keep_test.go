package histories

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

func TestAHistoryInMemoryIsWhatWouldBeInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	inFile, err := Create(path, Header{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	inMemory, kept, err := Keep(Header{Seed: 7, Started: inFile.origin})
	if err != nil {
		t.Fatal(err)
	}
	const rounds = keptAtATime + 3 // more than two pieces
	for process := range rounds {
		invoke := Event{Type: Invoke, Process: process, Op: Acquire, Lock: "a"}
		for _, e := range []Event{invoke, {Type: Fail, Process: process, Op: Acquire, Lock: "a", Error: "gave up"}} {
			for _, r := range []*Recorder{inFile, inMemory} {
				if _, err := r.Record(e); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := inMemory.Record(Event{Type: OK, Process: 1, Op: Acquire, Lock: "a"}); err == nil {
		t.Error("a completion without an invocation was recorded")
	}
	if recorded, written, refused := inMemory.Counts(); recorded != 2*rounds || written != 2*rounds || refused != 1 {
		t.Errorf("%d events recorded, %d kept, %d refused", recorded, written, refused)
	}
	for _, r := range []*Recorder{inFile, inMemory, inMemory} {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := inMemory.Record(Event{Type: Crash, Process: 3}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}

	again := filepath.Join(t.TempDir(), "again.jsonl")
	if err := kept.Write(again); err != nil {
		t.Fatal(err)
	}
	want, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	var events []Event
	for e, err := range kept.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, *e)
	}
	if !reflect.DeepEqual(events, got.Events) || !got.Header.Started.Equal(kept.Header().Started) || got.Header.Seed != 7 || got.Header.Version != Version {
		t.Errorf("%d events and the header %+v were written as %d and %+v", len(events), kept.Header(), len(got.Events), got.Header)
	}
	if !slices.EqualFunc(want.Events, got.Events, func(a, b Event) bool { a.Time = b.Time; return reflect.DeepEqual(a, b) }) {
		t.Errorf("%d events in the file, and %d in memory", len(want.Events), len(got.Events))
	}
	for range kept.Events() {
		break // a caller may stop early
	}
}

func TestAHistoryInMemoryNeedsAHeader(t *testing.T) {
	if _, _, err := Keep(Header{SessionTimeout: -1}); err == nil {
		t.Error("no error")
	}
}
