package judge

import (
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
)

func TestADisagreementOfTheEnginesIsAnErrorAndNoVerdict(t *testing.T) {
	e := &Engines{}
	v := verdict.Verdict{Guarantee: "mutual exclusion", Outcome: verdict.Holds}
	e.disagree(&v, "a", true)
	if v.Outcome != verdict.Unknown || len(e.Disagreements) != 1 {
		t.Error(v.String(), e.Disagreements)
	}
}
