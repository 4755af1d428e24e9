package remote

import (
	"testing"
	"time"
)

func TestLinesThatAPauseHasHeldUpAreNotLate(t *testing.T) {
	l := newLateness()
	l.received(1000, 1000+int64(3*time.Millisecond))
	l.pause()
	l.received(2000, int64(time.Hour))
	l.resumed()
	l.received(l.resume-int64(time.Second), l.resume) // stamped before it was stopped
	l.received(l.resume+1, l.resume+1+int64(2*time.Millisecond))
	if got := sum([]*lateness{l}); got.Lines != 2 || got.Worst != 3*time.Millisecond {
		t.Errorf("%+v; want the two lines outside of the pause", got)
	}
}
