package servers

import (
	"testing"
	"time"
)

func TestTheLastTimeBeforeATransactionIsKnown(t *testing.T) {
	var z Times
	if at := z.before(5); at != 0 {
		t.Errorf("%v, though no server was asked", at)
	}
	for _, answer := range []struct{ zxid, ms int64 }{{3, 10}, {3, 20}, {7, 30}, {5, 35}, {9, 40}} { // one of 35 lags behind
		z.Saw(answer.zxid, time.Duration(answer.ms)*time.Millisecond)
	}
	for zxid, ms := range map[int64]int64{3: 0, 4: 10, 7: 10, 8: 30, 9: 30, 10: 40} {
		if at := z.before(zxid); at != time.Duration(ms)*time.Millisecond {
			t.Errorf("before %d: %v, want %d ms", zxid, at, ms)
		}
	}
}
