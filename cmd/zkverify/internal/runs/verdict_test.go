package runs

import (
	"encoding/json"
	"slices"
	"testing"
)

// A fault that struck another client, or was over before, has no part in a violation.
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
