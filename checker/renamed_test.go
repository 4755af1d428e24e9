package checker

import (
	"encoding/json"
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// What earlier versions have written is read, though a guarantee has another name now.
func TestOldNamesOfGuaranteesAreRead(t *testing.T) {
	for old, now := range renamed {
		if _, err := guaranteeNamed(old, guarantees); err != nil {
			t.Error(err)
		}
		r := new(Report)
		text, err := json.Marshal(Report{Verdicts: []verdict.Verdict{{Guarantee: old, Outcome: verdict.Holds, Promised: true}}})
		if err == nil {
			err = json.Unmarshal(text, r)
		}
		if err != nil || r.Verdict(now) == nil {
			t.Errorf("%v, %v", r.Verdicts, err)
		}
		run := newRun(t)
		run.h.Header.Shrunk = &histories.Shrunk{Guarantee: old, Events: 9}
		run.takes(1, 1, "", 1)
		if v := run.report().Verdicts; len(v) != 1 || v[0].Guarantee != now {
			t.Errorf("a history that was shrunk for %s is judged on %v", old, v)
		}
	}
}
