package nemesis

import (
	"strings"
	"testing"
	"time"
)

func TestHowLateEdgesWereIsToldInQuantiles(t *testing.T) {
	if got := (Report{}).Edges(); got != "" {
		t.Errorf("without a fault: %q", got)
	}
	var r Report
	for i := range 200 {
		r.Late = append(r.Late, time.Duration(200-i)*time.Millisecond) // 1 to 200 ms, in no order
	}
	r.Looked = []time.Duration{time.Second, 1500 * time.Microsecond}
	got := r.Edges()
	for _, want := range []string{"200 fault edges", "101.0 ms (p50)", "199.0 ms (p99)", "200.0 ms at most", "1000.0 ms (p99) of looking"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}
