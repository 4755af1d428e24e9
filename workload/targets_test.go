package workload_test

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
)

func TestEveryTargetWorksWithoutFaults(t *testing.T) {
	mixes := map[string]cycle.Mix{
		// The mistake shows as soon as a waiter gives up: here no waiter does.
		"plain-lists-once": {Crash: -1, Try: -1, Timeout: -1, Cancel: -1, Ended: -1},
	}
	for _, name := range []string{"recipes", "zk-lock", "naive", "plain", "plain-lists-once"} {
		t.Run(name, func(t *testing.T) {
			mix, own := mixes[name]
			if !own {
				mix.Crash = -1
			}
			r, report, err := drive(t, t.Context(), workload.Config{
				Target: target(t, name), Seed: 1, Duration: 4 * time.Second, Faults: []string{"none"}, Mix: mix,
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Cycles < 10 {
				t.Errorf("only %d cycles", r.Cycles)
			}
			if report.Outcome() == verdict.Violated {
				t.Errorf("violated: %s", report.Reason())
			}
			if len(r.Stuck) > 0 || len(r.Census.Contenders) > 0 || r.Census.Watches > 0 || len(r.Census.Goroutines) > 0 {
				t.Errorf("something is left: stuck %v, census %+v", r.Stuck, r.Census)
			}
		})
	}
}
