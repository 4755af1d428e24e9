package simulation

import (
	"fmt"
	"slices"
	"sync"

	model "github.com/zkverify/zkverify/spec"
)

// pathParam is the parameter of an at-message that carries out a path: the path, see model.Path. Its faults
// decide the parameters that are left out then.
const pathParam = "path"

// pathsNamed returns the paths by their texts.
var pathsNamed = sync.OnceValue(func() map[string]model.Path {
	all := map[string]model.Path{}
	for _, p := range model.Paths() {
		all[p.String()] = p
	}
	return all
})

func checkPath(name string) error {
	if p, ok := pathsNamed()[name]; !ok || len(p.Faults) == 0 {
		return fmt.Errorf("%s is %q: want a path of spec/paths.txt that has a fault", pathParam, name)
	}
	return nil
}

// crowds returns the paths that have a fault, by the clients that they need: each run has those of one.
// Counter-examples come first, then single faults.
var crowds = sync.OnceValue(func() (all [][]model.Path) {
	at, seen := map[[2]int]int{}, map[string]bool{}
	for _, p := range model.Paths() {
		if len(p.Faults) == 0 || seen[p.String()] {
			continue
		}
		seen[p.String()] = true
		key := [2]int{p.Contenders, sessionsOf(p)}
		if _, known := at[key]; !known {
			at[key], all = len(all), append(all, nil)
		}
		all[at[key]] = append(all[at[key]], p)
	}
	rank := func(p model.Path) int {
		if len(p.Mistakes) > 0 {
			return 0
		}
		return len(p.Faults)
	}
	for _, paths := range all {
		slices.SortStableFunc(paths, func(a, b model.Path) int { return rank(a) - rank(b) })
	}
	return all
})

// sessionsOf returns workload.Config.Sessions for the contenders of a path.
func sessionsOf(p model.Path) int {
	if p.Shared {
		return p.Contenders - 1
	}
	return p.Contenders
}

// pathsOf returns the paths that the n-th run carries out, at most so many: consecutive runs go through all.
func pathsOf(n uint64, most int) []model.Path {
	var runs [][]model.Path
	for begin, more := 0, true; more; begin += most {
		more = false
		for _, paths := range crowds() {
			if begin < len(paths) {
				runs, more = append(runs, paths[begin:min(begin+most, len(paths))]), true
			}
		}
	}
	return runs[n%uint64(len(runs))]
}
