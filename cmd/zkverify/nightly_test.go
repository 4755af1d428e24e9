package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/folder"
)

func TestARunWhoseServersDisagreedIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	var said bytes.Buffer
	c := &campaign.Campaign{Say: func(text string) { said.WriteString(text) }}
	void := report.NightResult{Outcome: verdict.Unknown, Reason: "the servers disagree", Void: true}
	holds := report.NightResult{Outcome: verdict.Holds}
	// in makes the runs of one seed, each of which leaves a history.
	in := func(name string, results ...report.NightResult) *report.NightResult {
		t.Helper()
		got, err := untilShown(t.Context(), c, dir, name, func(out string) (*report.NightResult, error) {
			if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
				t.Errorf("a run begins in a folder with %v, %v", left, err)
			}
			if len(results) == 0 {
				t.Fatal("one run too many")
			}
			r := results[0]
			results = results[1:]
			return &r, os.WriteFile(filepath.Join(out, folder.History), []byte("history of "+name), 0o600)
		})
		if err != nil || len(results) > 0 {
			t.Fatalf("%v, %d runs not made", err, len(results))
		}
		return got
	}
	folders := func(want ...string) {
		t.Helper()
		var got []string
		all, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		for _, path := range all {
			got = append(got, strings.TrimPrefix(path, dir+"/"))
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("kept %q, %v; want %q", got, err, want)
		}
	}

	if r := in("one", holds); r.Outcome != verdict.Holds || r.VoidRuns != nil {
		t.Errorf("%+v", r)
	}
	folders()
	if r := in("two", void, holds); r.Outcome != verdict.Holds || !slices.Equal(r.VoidRuns, []string{"two-void-1"}) {
		t.Errorf("%+v", r)
	}
	folders("two-void-1/history.jsonl.zst")
	if !strings.Contains(said.String(), "two: the servers disagree: it is made again") {
		t.Errorf("said %q", &said)
	}
	// A night gives up on an ensemble that keeps failing.
	if r := in("two", void, void, void); r.Outcome != verdict.Unknown || r.Folder != "two" || len(r.VoidRuns) != campaign.Repeats {
		t.Errorf("%+v", r)
	}
	folders("two/history.jsonl.zst", "two-void-1/history.jsonl.zst", "two-void-2/history.jsonl.zst")
}
