package simulation

import (
	"crypto/sha256"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/folder"
)

// Clients give up while they create the parents of locks that nothing else uses: of one parent, and
// after one of two. They take these back.
func TestClientsGiveUpWhileTheyCreateParents(t *testing.T) {
	var first, second int // how often a parent was taken back; the second is created after the first
	for seed := range int64(6) {
		s := spec(seed, "random", "recipes")
		s.Recipes, s.Duration, s.Faults = []string{string(histories.MultiLock)}, 5*time.Second, nil
		w, err := s.world()
		if err != nil {
			t.Fatal(err)
		}
		var done folder.Recorded
		synctest.Test(t, func(t *testing.T) { done, _, err = w.record(t.Context(), s, 0, &trace{hash: sha256.New()}) })
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range done.Service.Parents {
			switch {
			case !strings.HasPrefix(n.Path, "unused-") || n.Used != nil:
			case n.Deleted == nil || n.By != "" || n.Deleted.Time-n.Created.Time > w.SessionTimeout/8:
				t.Errorf("seed %d: %+v is left", seed, n)
			case strings.HasSuffix(n.Path, "-1"):
				second++
			default:
				first++
			}
		}
	}
	if second == 0 || first <= second {
		t.Errorf("%d first parents and %d second ones were taken back; want some of each, and some first ones alone", first, second)
	}
}
