package simulation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// leaderAt returns a run in which the leader's clock has a rate from the beginning on, and the
// sessions of holders end by silence.
func leaderAt(seed int64, rate string) Spec {
	s := spec(seed, "random", "recipes")
	s.Schedule = &nemesis.Schedule{Steps: []nemesis.Step{{
		For: 28 * time.Second, Fault: "clock-rate", Pick: fault.Pick{Server: fault.TheLeader, Params: map[string]string{"rate": rate}},
	}}}
	for at := 2 * time.Second; at < 26*time.Second; at += 6 * time.Second {
		s.Schedule.Steps = append(s.Schedule.Steps, nemesis.Step{At: at, For: 3500 * time.Millisecond, Fault: "expire-silence", Pick: fault.Pick{Aim: fault.AtHolder}})
	}
	return s
}

// The contract of a lease allows a twentieth.
func TestTheRecipesHoldWhileTheLeadersClockIsOffByATwentieth(t *testing.T) {
	for seed, rate := range []string{"0.95", "1.05"} {
		o, _ := run(t, leaderAt(int64(seed), rate), Look{})
		if o.Outcome != verdict.Holds || o.Struck < 4 {
			t.Errorf("rate %s, seed %d: %s (%s), %d faults", rate, seed, o.Outcome, o.Reason, o.Struck)
		}
	}
}

// No lock can keep a lease under a clock that is off by half: the bench sees it.
func TestALeaderWhoseClockIsMuchTooFastBreaksLeases(t *testing.T) {
	violated := map[string]bool{}
	for seed := int64(0); seed < 6 && !(violated["mutual exclusion"] && violated["loss is told"]); seed++ {
		o, _ := run(t, leaderAt(seed, "1.5"), Look{})
		for _, g := range o.Violated {
			violated[g] = true
		}
	}
	if !violated["mutual exclusion"] || !violated["loss is told"] {
		t.Errorf("%v", violated)
	}
}

func TestFaultsOfClocksAreAmongThoseThatARunDraws(t *testing.T) {
	o, _ := run(t, spec(3, "random", "recipes"), Look{})
	if !slices.ContainsFunc(o.Schedule.Steps, func(s nemesis.Step) bool { return strings.HasPrefix(s.Fault, "clock-") }) {
		t.Errorf("%+v", o.Schedule.Steps)
	}
	if o.Coverage.Starts["clock-rate"]+o.Coverage.Starts["clock-step"] == 0 {
		t.Errorf("%v", o.Coverage.Starts)
	}
}
