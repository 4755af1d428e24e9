package campaign

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zkverify/zkverify/workload/folder"
)

// A fault that struck another client, or was over long before, has no part in a violation.
func TestFaultsThatMayHaveAPartInAViolation(t *testing.T) {
	var w witness
	if err := json.Unmarshal([]byte(`{
		"parties": [{"process": 3, "from": 10100000000}, {"process": 4, "from": 10300000000}],
		"faults": [
			{"name": "isolate-holder-follower", "processes": [1, 3], "from": 10150000000, "to": 10400000000},
			{"name": "latency", "processes": [2], "from": 10150000000, "to": 10400000000},
			{"name": "reset", "processes": [4], "from": 10, "to": 6200000000},
			{"name": "down", "processes": [3], "from": 10, "to": 6000000000},
			{"name": "kill-leader", "from": 10200000000},
			{"name": "isolate-holder-follower", "processes": [4], "from": 10301000000, "to": 10302000000}
		]}`), &w); err != nil {
		t.Fatal(err)
	}
	if got := w.struck(false); !slices.Equal(got, []string{"isolate-holder-follower", "kill-leader"}) {
		t.Errorf("%q", got)
	}
	if got := w.struck(true); !slices.Equal(got, []string{"isolate-holder-follower", "reset", "down", "kill-leader"}) {
		t.Errorf("of writes: %q", got)
	}
	w.Parties = nil
	if got := w.struck(false); len(got) != 5 {
		t.Errorf("of a violation without parties: %q", got)
	}
}

// A run on a machine that was too busy is no evidence against its target.
func TestARunThatIsNoEvidenceViolatesNothing(t *testing.T) {
	for outcome, violated := range map[string]bool{"violated": true, "unknown": false} {
		dir := t.TempDir()
		text := `{"outcome": "` + outcome + `", "reason": "the machine was too busy", "idle": "none started", "verdicts": [{"guarantee": "mutual exclusion", "outcome": "violated", "promised": true, "violations": 2, "witnesses": [{"what": "two held it"}]}]}`
		if err := os.WriteFile(filepath.Join(dir, folder.Verdict), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var r Result
		verdicts, err := r.Read(dir)
		if err != nil || len(verdicts) != 1 || verdicts[0].Violated() != violated {
			t.Errorf("%s: %+v, error %v", outcome, verdicts, err)
		}
		if r.Idle != "none started" {
			t.Errorf("idle for %q", r.Idle)
		}
		if !violated && verdicts[0].Reason != "the machine was too busy" {
			t.Errorf("the reason is %q", verdicts[0].Reason)
		}
	}
}
