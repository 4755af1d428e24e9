package ensemble

import (
	"fmt"
	"testing"
)

// A clock whose rate changes goes on from what it shows.
func TestAClockDoesNotJump(t *testing.T) {
	c := clock{rate: 1}
	shown := func(now int64) int64 { // as the JVM computes it
		var rate, ahead int64
		if _, err := fmt.Sscanf(c.value(), "%d:%d", &rate, &ahead); err != nil {
			t.Fatal(err)
		}
		return now*rate/100_000 + ahead
	}
	for i, rate := range []float64{1.05, 1, 0.95, 4, 1.0234567, 0.25, 1} {
		now := int64(1_000_000_000 + 3_600_000*i)
		before := shown(now)
		c.turn(now, rate)
		if after := shown(now); after-before > 2 || before-after > 2 {
			t.Errorf("it showed %v, and shows %v at the rate %v", before, after, rate)
		}
	}
}

func TestServersWithoutBytemanHaveNoClocks(t *testing.T) {
	l := &Local{}
	if l.HasClocks() {
		t.Error("they have")
	}
	if err := l.SetClockRate(t.Context(), 1, 1.05); err == nil {
		t.Error("one is set")
	}
}
