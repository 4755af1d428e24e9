package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// pausedOverlap reports whether a pause excuses two beliefs that overlap for
// having done so: that one of them went on in it.
func (t *trace) pausedOverlap(a, b piece) bool {
	from, to := max(a.from, b.from), min(a.to, b.to)
	return len(t.pausedIn(a.hold.process, from-t.wakeGrace(), to))+len(t.pausedIn(b.hold.process, from-t.wakeGrace(), to)) > 0
}

func (t *trace) wakeGrace() time.Duration {
	return histories.WakeBound + histories.Slack(t.header.SessionTimeout)
}

// paused reports whether any process was.
func (t *trace) paused() bool {
	return slices.ContainsFunc(t.faults, func(f *faultSpan) bool { return f.Name == histories.WorkerPause })
}

// underPauses tells both sides of what pauses of processes have shown: what no
// lock can prevent, and what protects all the same.
func (t *trace) underPauses(r *Report) string {
	if !t.paused() {
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
	if n, ok := figure(MutualExclusion, overlapsUnderPauses); ok {
		parts = append(parts, words.Count(int(n), "overlap")+" of beliefs in exclusive locks, which no lock can prevent")
	}
	if v := r.Verdict(NoLostUpdateFenced); v != nil && v.Outcome == Holds {
		refused, _ := v.Figure("writes refused")
		parts = append(parts, "behind the fence no update was lost, and "+words.Count(int(refused), "write")+" refused")
	}
	if n, ok := figure(NoLostUpdatePlain, lostUpdatesExcused); ok {
		parts = append(parts, words.Count(int(n), "lost update")+" without a fence excused")
	}
	if n, ok := figure(LossIsTold, wokenLongest); ok {
		parts = append(parts, fmt.Sprintf("loss was told within %.0f ms of waking", n))
	}
	return "under pauses of processes: " + strings.Join(parts, "; ")
}

// The figures that underPauses is made of.
const (
	overlapsUnderPauses = "overlaps under pauses of a holder's process, which no lock can prevent"
	lostUpdatesExcused  = "lost updates excused by a forced expiry, a pause or a told loss"
	wokenLongest        = "from the end of a pause to lost, longest"
)
