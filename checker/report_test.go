package checker

import (
	"errors"
	"strings"
	"testing"
)

func TestTheErrorOfAReportSaysWhatIsWrong(t *testing.T) {
	good := newRun(t).cycle(0, 1, 1, 1).cycle(2, 3, 2, 2)
	good.h.Header.Promises.FIFO, good.h.Header.Promises.Reentrant = false, false
	if err := good.report().Err(); err != nil {
		t.Errorf("of a good history: %v", err)
	}
	bad := newRun(t)
	doubleHold(bad, 1, 1)
	err := bad.report().Err()
	if want := `mutual exclusion is violated: two owners held one lock at the same time, once; exclusion broken, fencing would have protected. First: process 1 and process 2 both held lock "a"`; !errors.Is(err, ErrViolated) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("of a bad one: %v", err)
	}
	idle := newRun(t).want(0, 1)
	if err := idle.report().Err(); err == nil || errors.Is(err, ErrViolated) || !strings.HasPrefix(err.Error(), "not exercised: ") {
		t.Errorf("of one that shows nothing: %v", err)
	}
}
