package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories/situations"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/simulation"
)

// A sweep names the situations that none of its runs has reached, over all plans.
func TestASweepTellsWhichSituationsItMissed(t *testing.T) {
	dir := t.TempDir()
	sweep, err := simulation.OpenSweep(filepath.Join(dir, simulation.ResultsFile), "", false)
	if err != nil {
		t.Fatal(err)
	}
	spec := simulation.Spec{Target: "recipes", Recipes: []string{"mutex"}}
	for i, plan := range []string{"random", "edges"} {
		reached := situations.Possible(nil, true)
		for _, s := range situations.All() {
			if s.Name != "delete-lost" {
				reached[s.Name] = i // by the second run alone
			}
		}
		o := simulation.Outcome{Spec: spec, Outcome: verdict.Holds, Coverage: simulation.Met{Starts: map[string]int{}, Situations: reached}}
		o.Spec.Plan = plan
		if err := sweep.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	s := simCmd{Plan: "all", Verbose: true}
	if err := s.tellCoverage(&console{out: &said, err: &said}, dir, sweep, spec); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"situations did not occur: delete-lost\n", "       0  delete-lost: the request to delete", "       1  create-reply-lost: "} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not in\n%s", want, &said)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, simulation.CoverageFile))
	if err != nil {
		t.Fatal(err)
	}
	var coverage struct {
		Plans []struct {
			Plan       string
			Situations situations.Counts
		}
	}
	if err := json.Unmarshal(text, &coverage); err != nil {
		t.Fatal(err)
	}
	for _, p := range coverage.Plans {
		n, can := p.Situations["create-reply-lost"]
		if want := map[string]int{"edges": 1}[p.Plan]; !can || n != want {
			t.Errorf("%s has reached it %d times, want %d", p.Plan, n, want)
		}
	}
}

// A night on simulated servers names the situations that it missed.
func TestANightOnSimulatedServersCountsSituations(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "night")
	var said bytes.Buffer
	status := zkverify(strings.Fields("nightly --ensemble simulated --seeds 1 --seed 7 --duration 1s --clients 2 --faults none --out "+dir), &console{out: &said, err: &said})
	text, err := os.ReadFile(filepath.Join(dir, nightlyFile))
	if err != nil {
		t.Fatalf("status %d: %v\n%s", status, err, &said)
	}
	night := new(report.Night)
	if err := json.Unmarshal(text, night); err != nil {
		t.Fatal(err)
	}
	n, can := night.Situations["fence-refuses"]
	if _, traced := night.Situations["delete-lost"]; !can || n != 0 || traced {
		t.Errorf("it has counted %v", night.Situations)
	}
	if !strings.Contains(said.String(), "situations did not occur: ") || !strings.Contains(said.String(), "fence-refuses") {
		t.Errorf("%s", &said)
	}
}
