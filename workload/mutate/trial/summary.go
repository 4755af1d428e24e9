package trial

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/mutate"
)

// Summary describes in text how many of the mutants were killed, by which ends and guarantees,
// of which operators, and which ones were not.
func Summary(all []Result) string {
	var b strings.Builder
	counts := map[Status]int{}
	by, killed, of := map[string]int{}, map[mutate.Operator]int{}, map[mutate.Operator]int{}
	for _, r := range all {
		counts[r.Status]++
		of[r.Mutant.Operator]++
		if r.Status == Killed {
			killed[r.Mutant.Operator]++
		}
		for _, name := range r.By {
			by[name]++
		}
	}
	for _, r := range all {
		if r.Status != Killed {
			fmt.Fprintf(&b, "%-9s  %s\n", r.Status, r.Mutant)
		}
	}
	for _, text := range shares(all) {
		fmt.Fprintln(&b, text)
	}
	if counts[Killed] > 0 {
		fmt.Fprintf(&b, "by: %s\n", descending(by))
	}
	var parts []string
	for _, op := range mutate.Operators() {
		if of[op] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d of %d", op, killed[op], of[op]))
		}
	}
	if parts != nil {
		fmt.Fprintf(&b, "of each operator: %s\n", strings.Join(parts, ", "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// shares describes how many mutants were killed, of those that are reached: by runs and, if
// tests were run too, by either; if with the race detector, by that as well.
func shares(all []Result) (texts []string) {
	killed, reached := map[string]int{}, map[string]int{}
	either, stages := 0, 0
	for _, r := range all {
		for _, stage := range r.ReachedBy {
			reached[stage]++
		}
		if r.Status == Killed {
			killed[r.Stage]++
		}
		if len(r.ReachedBy) > 0 {
			either++
		}
		stages = max(stages, r.Stages)
	}
	if n := reached[InRuns]; n > 0 {
		texts = append(texts, fmt.Sprintf("killed by runs: %d of %s that they reach, %.1f %%; %d more are not reached",
			killed[InRuns], words.Count(n, "mutant"), percent(killed[InRuns], n), len(all)-n))
	}
	if n := killed[InRuns] + killed[InTests]; stages > 1 && either > 0 {
		texts = append(texts, fmt.Sprintf("killed by runs or by the recipes' tests: %d of %s that either reaches, %.1f %%; %d more are not reached",
			n, words.Count(either, "mutant"), percent(n, either), len(all)-either))
	}
	if n := killed[InRuns] + killed[InTests] + killed[InRaces]; stages > 2 && either > 0 {
		texts = append(texts, fmt.Sprintf("killed by runs, tests or the race detector: %d of these, %.1f %%", n, percent(n, either)))
	}
	return texts
}

func percent(some, all int) float64 { return 100 * float64(some) / float64(all) }

// descending lists names with their counts, the largest first.
func descending(counts map[string]int) string {
	names := slices.Collect(maps.Keys(counts))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, counts[n])
	}
	return strings.Join(names, ", ")
}
