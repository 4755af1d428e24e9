package nemesis

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/internal/words"
)

// Edges describes the delays of the faults' edges in one line. It returns "" if there were none.
func (r Report) Edges() string {
	if len(r.Late) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, late by %s (p50), %s (p99), %s at most, after %s (p99) of looking for a target",
		words.Count(len(r.Late), "fault edge"), quantile(r.Late, 0.5), quantile(r.Late, 0.99), quantile(r.Late, 1), quantile(r.Looked, 0.99))
}

// quantile returns, as text, the smallest duration that at least a share q of all do not
// exceed.
func quantile(all []time.Duration, q float64) string {
	sorted := slices.Sorted(slices.Values(all))
	if len(sorted) == 0 {
		return "0 ms"
	}
	i := min(int(q*float64(len(sorted))), len(sorted)-1)
	return fmt.Sprintf("%.1f ms", float64(sorted[i])/float64(time.Millisecond))
}
