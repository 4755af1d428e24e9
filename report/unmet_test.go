package report

import (
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

func TestCombinationsThatDidNotOccurAreNamedByFault(t *testing.T) {
	met := func(fault string, r histories.Recipe, holding int) checker.Meetings {
		return checker.Meetings{Fault: fault, Recipe: r, Met: map[checker.State]int{checker.Idle: 1, checker.Holding: holding, checker.Releasing: holding}}
	}
	var sum checker.CoverageSum
	sum.Add(checker.CoverageSum{
		Coverage: checker.Coverage{{Fault: "down", Starts: 2}, {Fault: "reset", Starts: 1}},
		Meetings: []checker.Meetings{met("down", histories.Mutex, 0), met("down", histories.Semaphore, 0), met("reset", histories.Mutex, 1)},
	})
	sum.Expect([]string{"bridge", "down"}, []histories.Recipe{histories.Barrier})
	got := Unmet(&sum)
	if want := "bridge never began; down × mutex holding releasing, semaphore holding releasing, barrier idle waiting"; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	if _, of := sum.Unmet(); of != 3*3+2*2 {
		t.Errorf("%d combinations", of)
	}
	sum.Add(checker.CoverageSum{Meetings: []checker.Meetings{met("down", histories.MultiLock, 0)}})
	if got := Unmet(&sum); !strings.HasSuffix(got, "; down × 4 recipes") {
		t.Errorf("%q", got)
	}
	sum.Expect([]string{"a", "b", "c", "d", "e", "f"}, []histories.Recipe{histories.Mutex})
	if got := Unmet(&sum); !strings.HasSuffix(got, "; and combinations of 2 other faults") {
		t.Errorf("%q", got)
	}
}
