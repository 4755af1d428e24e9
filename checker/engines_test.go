package checker

import "testing"

func TestADisagreementOfTheEnginesIsAnErrorAndNoVerdict(t *testing.T) {
	e := &engines{}
	v := Verdict{Guarantee: "mutual exclusion", Outcome: Holds}
	e.disagree(&v, "a", true)
	if v.Outcome != Unknown || len(e.disagreements) != 1 {
		t.Error(v.String(), e.disagreements)
	}
}
