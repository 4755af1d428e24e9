package simulation

import (
	"fmt"
	"testing"
	"time"
)

func TestThePlanLeaseGoesThroughAllCombinations(t *testing.T) {
	for name, table := range map[string][]digit{"held back": heldBack, "chains": chains, "deposed": deposed} {
		all, distinct := 1, 1
		for _, d := range table {
			values := map[string]bool{}
			for _, v := range d.values {
				values[v] = true
			}
			all, distinct = all*len(d.values), distinct*len(values)
		}
		seen := map[string]bool{}
		for n := range all {
			seen[fmt.Sprint(strikeOf(table, uint64(n), 200*time.Millisecond, time.Hour))] = true
		}
		if len(seen) != distinct {
			t.Errorf("%s: %d of %d combinations in %d strikes", name, len(seen), distinct, all)
		}
	}
}

func TestAScheduleOfThePlanLeaseCanBeCarriedOut(t *testing.T) {
	for seed := range int64(64) {
		w, err := Spec{Seed: seed, Plan: "lease", Target: "recipes", Duration: time.Minute}.world()
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range w.Schedule.Steps {
			kind, err := Kinds().Named(step.Fault)
			if err != nil {
				t.Fatal(err)
			}
			if err := kind.Allows(step.Pick); err != nil {
				t.Errorf("seed %d, %s of %v: %v", seed, step.Fault, step.At, err)
			}
			if stopped, _ := time.ParseDuration(step.Pick.Params["stopped"]); stopped >= w.SessionTimeout {
				t.Errorf("seed %d: the leader stands still for %v", seed, stopped)
			}
		}
	}
}
