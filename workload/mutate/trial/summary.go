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

// Summary says in text how many of the mutants were killed, by what, of which operators,
// and which ones were not.
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
	if reached := len(all) - counts[Unreached]; reached > 0 {
		fmt.Fprintf(&b, "killed: %d of %s that runs reach, %.1f %%; %d more are not reached\n",
			counts[Killed], words.Count(reached, "mutant"), 100*float64(counts[Killed])/float64(reached), counts[Unreached])
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
