package main

import (
	"slices"
	"testing"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/mutate/trial"
)

// Runs of one recipe are cheap, so they come first: with each seed, one run of each recipe.
func TestTheRunsThatMayKillAMutant(t *testing.T) {
	n := len(histories.Recipes())
	got := (&mutateCmd{Seed: 7, Seeds: 2, Alone: 3}).settings()
	if len(got) != 3*n+2 || got[0] != (trial.Setting{Seed: 7, Recipe: "mutex"}) || got[n] != (trial.Setting{Seed: 8, Recipe: "mutex"}) {
		t.Errorf("%v", got)
	}
	if want := []trial.Setting{{Seed: 7}, {Seed: 8}}; !slices.Equal(got[3*n:], want) {
		t.Errorf("the last ones are %v", got[3*n:])
	}
}
