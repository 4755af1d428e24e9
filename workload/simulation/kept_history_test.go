package simulation

import (
	"crypto/sha256"
	"path/filepath"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zkverify/zkverify/histories"
)

// A run is judged by its history in memory: it must equal the history in a file.
func TestTheHistoryInMemoryIsThatOfItsFile(t *testing.T) {
	for seed, plan := range []string{"random", "edges"} {
		s := spec(int64(seed), plan, "recipes")
		s.Recipes = []string{"mutex", "readwrite", "multilock", "semaphore", "sharedsemaphore", "revocation", "handoff", "election", "barrier", "doublebarrier"}
		s.Duration = 10 * time.Second
		w, err := s.world()
		if err != nil {
			t.Fatal(err)
		}
		var kept *histories.Kept
		synctest.Test(t, func(t *testing.T) {
			_, kept, err = w.record(t.Context(), s, 0, &trace{hash: sha256.New()})
		})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "history.jsonl")
		if err := kept.Write(file); err != nil {
			t.Fatal(err)
		}
		read, err := histories.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h := kept.Header()
		if h.Started.Equal(read.Header.Started) {
			h.Started = read.Header.Started // it names its time zone in another way
		}
		if !reflect.DeepEqual(h, read.Header) {
			t.Errorf("plan %s: the header is %+v, and %+v in the file", plan, h, read.Header)
		}
		n := 0
		for e := range kept.Events() {
			if n == len(read.Events) || !reflect.DeepEqual(*e, read.Events[n]) {
				t.Fatalf("plan %s: event %d is %+v, and not in the file: %s", plan, n, *e, cmp.Diff(e, &read.Events[n]))
			}
			n++
		}
		if n != len(read.Events) || n < 1000 {
			t.Errorf("plan %s: %d events, and %d in the file", plan, n, len(read.Events))
		}
	}
}
