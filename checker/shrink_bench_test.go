package checker

import (
	"context"
	"testing"
)

// BenchmarkShrink shrinks 100,000 operations with one double hold in the middle.
func BenchmarkShrink(b *testing.B) {
	h := haystack(b, 33_334, doubleHold)
	for b.Loop() {
		small, err := Shrink(context.Background(), h, "", nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(small.Events)), "events-left")
	}
}
