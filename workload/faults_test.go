package workload_test

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
)

// violated reports whether the checker has found a guarantee broken.
func violated(report *checker.Report, guarantee string) bool {
	v := report.Verdict(guarantee)
	return v != nil && v.Outcome == verdict.Violated
}

func TestZkLockLetsTwoClientsHoldWhenASessionExpiresInSilence(t *testing.T) {
	parallel(t)
	// Two clients, one lock: while one holds, the other waits. The holder is cut off until its
	// session has expired, and holds on, since no notification reaches it. The waiter gets the
	// lock. A holder may let go just before the session ends, so there are four faults.
	var steps []nemesis.Step
	for i := range 4 {
		steps = append(steps, nemesis.Step{
			At: time.Second + time.Duration(i)*2500*time.Millisecond, For: 2 * time.Second,
			Fault: "expire-silence", Pick: fault.Pick{Aim: fault.AtHolder, Draw: uint32(i + 1)},
		})
	}
	r, report, err := drive(t, t.Context(), workload.Config{
		Target: target(t, "zk-lock"), Seed: 1, Clients: 2, Locks: 1, Duration: 11 * time.Second,
		SessionTimeout: time.Second,
		Mix:            cycle.Mix{HoldOn: 1, Try: -1, Timeout: -1, Cancel: -1, Crash: -1, Hold: 50 * time.Millisecond},
		Schedule:       &nemesis.Schedule{Steps: steps},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.HeldAcross < 2 || r.Expired < 2 { // now and then a fault finds no holder
		t.Errorf("held across faults: %d, expired: %d; want 2 of 4 each, at least", r.HeldAcross, r.Expired)
	}
	if !violated(report, "mutual exclusion") {
		t.Error("two clients held the lock, and the checker did not see it")
	}
}

func TestZkLockLetsTwoClientsHoldWhenASessionIsExpiredByForce(t *testing.T) {
	parallel(t)
	_, report, err := drive(t, t.Context(), workload.Config{
		Target: target(t, "zk-lock"), Seed: 1, Clients: 2, Locks: 1, Duration: 3 * time.Second,
		Mix: cycle.Mix{HoldOn: 1, Try: -1, Timeout: -1, Cancel: -1, Crash: -1, Hold: 50 * time.Millisecond},
		Schedule: &nemesis.Schedule{Steps: []nemesis.Step{
			{At: 500 * time.Millisecond, Fault: histories.ForcedExpiry, Pick: fault.Pick{Aim: fault.AtHolder, Draw: 1}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !violated(report, "mutual exclusion") {
		t.Error("two clients held the lock, and the checker did not see it")
	}
}

// Neither lock has tokens, and the bench still finds the holder's node.
func TestALockWithoutTokensIsStruckByDeletions(t *testing.T) {
	for _, name := range []string{"zk-lock", "naive"} {
		t.Run(name, func(t *testing.T) {
			parallel(t)
			r, report, err := drive(t, t.Context(), workload.Config{
				Target: target(t, name), Seed: 1, Clients: 2, Locks: 1, Duration: 3 * time.Second,
				Mix: cycle.Mix{HoldOn: 1, Try: -1, Timeout: -1, Cancel: -1, Crash: -1, Hold: 50 * time.Millisecond},
				Schedule: &nemesis.Schedule{Steps: []nemesis.Step{
					{At: 500 * time.Millisecond, Fault: histories.NodeDeletion, Pick: fault.Pick{Aim: fault.AtHolder, Draw: 1}},
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.HeldAcross == 0 || !violated(report, "mutual exclusion") {
				t.Errorf("held across %d faults, and mutual exclusion was not violated", r.HeldAcross)
			}
		})
	}
}
