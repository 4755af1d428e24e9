package field

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/runs"
)

// planned is a run to make.
type planned struct {
	Lock Lock
	Plan Plan
	Seed int64

	options []string // of every run
	// duration is that of the run, if it is not the one of its options; zero if it is.
	duration time.Duration
}

// names refuses names of locks and plans that the field does not have.
func (f *Field) names(locks, plans []string) error {
	for _, name := range locks {
		if !slices.ContainsFunc(f.Locks(), func(l Lock) bool { return matches([]string{name}, l.id) }) {
			return fmt.Errorf("--lock: the field has no lock %q; zkverify field --dry-run names all", name)
		}
	}
	var known []string
	for _, p := range f.Plans {
		known = append(known, p.Name)
	}
	for _, name := range plans {
		if !slices.ContainsFunc(known, func(plan string) bool { return matches([]string{name}, plan) }) {
			return fmt.Errorf("--plan: the field has no plan %q, only %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// planned returns the runs with a seed and those after it, in the order in which they are made:
// every lock under the first plan, then under the next, then all with the next seed.
func (f *Field) planned(locks, plans []string, first int64, seeds int) (all []planned) {
	for seed := first; seed < first+int64(seeds); seed++ {
		for _, p := range f.Plans {
			if !matches(plans, p.Name) {
				continue
			}
			for _, l := range f.Locks() {
				if matches(locks, l.id) {
					all = append(all, planned{Lock: l, Plan: p, Seed: seed, options: f.Options})
				}
			}
		}
	}
	return all
}

// args are the arguments of zkverify. What comes later counts.
func (p planned) args() []string {
	args := slices.Concat([]string{"run"}, p.options, p.Plan.Options, p.Lock.options, []string{"--faults", strings.Join(p.Plan.Faults, ",")})
	if p.duration > 0 {
		for i := slices.Index(args, "--duration"); i >= 0; i = slices.Index(args, "--duration") {
			args = slices.Delete(args, i, i+2)
		}
		args = append(args, "--duration", p.duration.String())
	}
	return append(args, "--seed", strconv.FormatInt(p.Seed, 10))
}

// env is what the run's environment has beside ours.
func (p planned) env() []string {
	if p.Lock.variable == "" {
		return nil
	}
	return []string{p.Lock.variable}
}

// Command is what to type for it.
func (p planned) Command() string { return runs.Command(p.env(), p.args()) }

// folder is the name of the run's folder.
func (p planned) folder() string {
	return strings.NewReplacer("/", "_", " ", "-").Replace(p.Lock.id + "-" + p.Plan.Name + "-" + strconv.FormatInt(p.Seed, 10))
}

// is says whether a result is that of the run.
func (p planned) is(r Result) bool {
	return r.Lock == p.Lock.id && r.Plan == p.Plan.Name && r.Seed == p.Seed
}
