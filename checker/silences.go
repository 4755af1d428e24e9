package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// Something other than the run, such as a garbage collection, may stop a worker process. The
// worker can then neither be told of a loss nor report one. The run detects that when it is
// over, by the times of the worker's answers. A silence therefore does not excuse a belief, as
// a pause does, but a violation that silences can account for is not held against the target.

// accountable is the share of a violation's time that silences must fill to account for it: the
// actions that a silence delays do not take much longer than the silence.
const accountable = 1.0 / 3

// excuseBySilences returns why a violation cannot be held against the target if silences
// account for all its known parts, else "".
func excuseBySilences(silences []histories.Silence, v *verdict.Verdict) string {
	if len(silences) == 0 || len(v.Witnesses) == 0 {
		return ""
	}
	for _, w := range v.Witnesses {
		if !accountFor(silences, w) {
			return ""
		}
	}
	first := slices.IndexFunc(silences, func(s histories.Silence) bool { return accountFor([]histories.Silence{s}, v.Witnesses[0]) })
	s := silences[max(first, 0)]
	return fmt.Sprintf("worker %d said nothing from %s to %s, though it was asked: something other than the run stopped it, or the machine was too busy, so what is violated about then cannot be held against the target",
		s.Worker, verdict.At(s.From), verdict.At(s.To))
}

// accountFor reports whether silences fill enough of the time of a violation. Each counts for
// as long again after its end, in which the worker catches up. A lock that was granted too
// early by the servers' logs is not excused: there it does not matter when the holders were
// told.
func accountFor(silences []histories.Silence, w verdict.Witness) bool {
	if w.Order == verdict.GrantedEarly {
		return false
	}
	var filled time.Duration
	met := false
	for _, s := range silences {
		after := max(s.To-s.From, histories.WakeBound)
		if both := min(s.To+after, w.To) - max(s.From, w.From); both >= 0 {
			met = true
			filled += both
		}
	}
	return met && float64(filled) >= accountable*float64(w.To-w.From)
}

// tellSilences counts the silences of worker processes in a sentence, or returns "" if there
// were none.
func tellSilences(census *histories.Event) string {
	if census == nil || len(census.Census.Silences) == 0 {
		return ""
	}
	silences := census.Census.Silences
	longest := slices.MaxFunc(silences, func(a, b histories.Silence) int { return cmp.Compare(a.To-a.From, b.To-b.From) })
	return fmt.Sprintf("worker processes were stopped by something other than the run, or not heard on a busy machine, %s; for %s at most, worker %d from %s on: what that accounts for is not held against the target",
		words.Times(len(silences)), verdict.Ms(longest.To-longest.From), longest.Worker, verdict.At(longest.From))
}
