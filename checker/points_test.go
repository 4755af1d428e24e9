package checker

import (
	"testing"

	"github.com/zkverify/zkverify/histories/states"
)

func TestTheReportSaysWhichFailpointsNoServerCameTo(t *testing.T) {
	for want, points := range map[string]map[string]states.Reach{
		"": {},
		"failpoints that servers came to: a 1 time":                                                               {"a": {Faults: 1, Times: 1}},
		"failpoints that servers came to: a 7 times, in 2 of 3 faults; b 2 times":                                 {"b": {Faults: 2, Times: 2}, "a": {Faults: 3, Missed: 1, Times: 7}},
		"failpoints that servers came to: b 2 times. failpoints that no server came to, which show nothing: a; c": {"c": {Faults: 1, Missed: 1}, "b": {Faults: 1, Times: 2}, "a": {Faults: 2, Missed: 2}},
		"failpoints that no server came to, which show nothing: a":                                                {"a": {Faults: 1, Missed: 1}},
	} {
		if got := tellPoints(points); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
