package simulation

import (
	"fmt"
	"maps"
	"testing"
	"time"
)

func TestThePlanLeaseGoesThroughAllCombinations(t *testing.T) {
	for name, table := range map[string][]digit{"held back": heldBack, "answered first": answeredFirst, "chains": chains, "unasked": unasked, "deposed": deposed} {
		all := 1
		for _, d := range table {
			all *= len(d.values)
		}
		want, got := map[string]bool{}, map[string]bool{}
		for n := range uint64(all) {
			want[fmt.Sprint(combination(table, n, 200*time.Millisecond, time.Hour))] = true
			got[fmt.Sprint(strikeOf(table, n, 200*time.Millisecond, time.Hour))] = true
		}
		if !maps.Equal(got, want) || len(want) < all/10 {
			t.Errorf("%s: %d of %d combinations in %d strikes", name, len(got), len(want), all)
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
