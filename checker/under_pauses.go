package checker

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/internal/client"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/fencing"
	"github.com/zkverify/zkverify/checker/internal/holding"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
)

// tellStalls counts the stalls of the recording process in a sentence, or returns "" if there
// were none.
func tellStalls(t *facts.Trace) string {
	if len(t.Faults.Stalls) == 0 {
		return ""
	}
	longest := time.Duration(0)
	for _, s := range t.Faults.Stalls {
		longest = max(longest, s.To-s.From)
	}
	return fmt.Sprintf("the process that records stood still %s, for %s at most: what holders believed, or were not told, meanwhile is not held against the target",
		words.Times(len(t.Faults.Stalls)), verdict.Ms(longest))
}

// underPauses summarizes the effects of pauses of processes: those that no lock can prevent,
// and the protection that still holds.
func underPauses(t *facts.Trace, r *Report) string {
	if !t.Faults.Pauses() {
		return ""
	}
	var parts []string
	figure := func(guarantee, name string) (float64, bool) {
		v := r.Verdict(guarantee)
		if v == nil {
			return 0, false
		}
		return v.Figure(name)
	}
	if n, ok := figure(MutualExclusion, holding.OverlapsUnderPauses); ok {
		parts = append(parts, words.Count(int(n), "overlap")+" of beliefs in exclusive locks, which no lock can prevent")
	}
	if v := r.Verdict(NoLostUpdateFenced); v != nil && v.Outcome == verdict.Holds {
		refused, _ := v.Figure("writes refused")
		parts = append(parts, "behind the fence no update was lost, and "+words.Count(int(refused), "write")+" refused")
	}
	if n, ok := figure(NoLostUpdatePlain, fencing.LostUpdatesExcused); ok {
		parts = append(parts, words.Count(int(n), "lost update")+" without a fence excused")
	}
	if n, ok := figure(LossIsTold, client.WokenLongest); ok {
		parts = append(parts, fmt.Sprintf("loss was told within %.0f ms of waking", n))
	}
	return "under pauses of processes: " + strings.Join(parts, "; ")
}
