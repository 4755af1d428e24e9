package simulation

import (
	"crypto/sha256"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	model "github.com/zkverify/zkverify/spec"
	"github.com/zkverify/zkverify/workload/folder"
)

// A leader that is cut off takes the order to end a session and tells the session's client that it has
// ended, so a release returns. The next leader does not know of that: the session and its node
// stay until it has been silent for its timeout. The run is correct, by the judges and by the model.
// It is not if the client goes on in the session of which it was told.
func TestTheNextLeaderDoesNotKnowThatASessionHasEnded(t *testing.T) {
	for seed := range int64(10) { // the session must be one of the leader's own clients
		if endIsForgotten(t, seed) {
			return
		}
	}
	t.Error("no release returned before its node was gone")
}

// endIsForgotten reports whether the kind of run came about.
func endIsForgotten(t *testing.T, seed int64) bool {
	s := spec(seed, "random", "recipes")
	s.Schedule = new(nemesis.Schedule)
	for at := time.Second; at < s.Duration-8*time.Second; at += 5 * time.Second {
		s.Schedule.Steps = append(s.Schedule.Steps, nemesis.Step{At: at, For: s.SessionTimeout, Fault: "isolate-leader"})
		for i := range 4 {
			s.Schedule.Steps = append(s.Schedule.Steps, nemesis.Step{
				At: at + time.Duration(i+1)*20*time.Millisecond, Fault: histories.ForcedExpiry, Pick: fault.Pick{Aim: fault.AtHolder, Draw: uint32(i)},
			})
		}
	}
	w, err := s.world()
	if err != nil {
		t.Fatal(err)
	}
	var done folder.Recorded
	var kept *histories.Kept
	tr := &trace{hash: sha256.New()}
	synctest.Test(t, func(t *testing.T) { done, kept, err = w.record(t.Context(), s, 0, tr) })
	if err != nil {
		t.Fatal(err)
	}
	ends := map[int64]time.Duration{} // when nodes were deleted with their session, by token
	for _, n := range done.Service.Nodes {
		if n.Ended {
			ends[n.Created.Zxid] = n.Deleted.Time
		}
	}
	released := map[int]string{} // by process: the session of a release that returned long before its node was gone
	granted := map[[2]string]histories.Event{}
	wrong := -1 // the next grant to the process
	var events []histories.Event
	for e := range kept.Events() {
		k := [2]string{strconv.Itoa(e.Process), e.Lock}
		switch {
		case e.Type != histories.OK:
		case e.Op == histories.Acquire:
			granted[k] = *e
			if _, there := released[e.Process]; there && wrong < 0 {
				wrong = len(events)
			}
		case e.Op == histories.Release && wrong < 0 && ends[granted[k].Token.Zxid] > e.Time+w.SessionTimeout/2:
			released[e.Process] = granted[k].Session
		}
		events = append(events, *e)
	}
	if wrong < 0 {
		return false
	}
	judge := func() verdict.Outcome {
		all := func(yield func(*histories.Event, error) bool) {
			for i := range events {
				if !yield(&events[i], nil) {
					return
				}
			}
		}
		r, err := checker.CheckEvents(t.Context(), kept.Header(), all, checker.WithService(done.Service))
		if err != nil {
			t.Fatal(err)
		}
		return r.Verdict(checker.NoLeak).Outcome
	}
	if got := judge(); got != verdict.Holds {
		t.Error(got)
	}
	events[wrong].Session = released[events[wrong].Process]
	if got := judge(); got != verdict.Violated {
		t.Errorf("if it goes on in the session: %s", got)
	}

	path := filepath.Join(t.TempDir(), model.RecordFile)
	if err := writeRecord(path, kept, tr.txns, tr.began); err != nil {
		t.Fatal(err)
	}
	if v, err := model.NewValidator(); err != nil {
		t.Log(err)
	} else if m, err := v.Validate(t.Context(), path); err != nil || len(m.Differs) > 0 {
		t.Errorf("%v %v", err, m.Differs)
	}
	return true
}
