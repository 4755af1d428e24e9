package field

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/workload/campaign"
)

// planned is a run to make.
type planned struct {
	Lock Lock
	Plan Plan
	Seed int64

	options []string // of every run
	// duration replaces the duration in the options; zero leaves that as it is.
	duration time.Duration
}

// names returns an error for the first lock or plan that the field does not have.
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

// planned returns the runs with the seeds from first on, in the order in which they are made: with
// each seed, every lock under the first plan, then every lock under the next.
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

// args returns the arguments of zkverify. Of an option that occurs twice, the later one counts.
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

// env returns the variables that are added to the environment of the run.
func (p planned) env() []string {
	if p.Lock.variable == "" {
		return nil
	}
	return []string{p.Lock.variable}
}

// Command returns the shell command of the run.
func (p planned) Command() string { return campaign.Command(p.env(), p.args()) }

// folder returns the name of the run's folder.
func (p planned) folder() string {
	return strings.NewReplacer("/", "_", " ", "-").Replace(p.Lock.id + "-" + p.Plan.Name + "-" + strconv.FormatInt(p.Seed, 10))
}

// String names the run in messages.
func (p planned) String() string {
	return fmt.Sprintf("%s, %s, seed %d", p.Lock.id, p.Plan.Name, p.Seed)
}

// is reports whether a result is that of the run.
func (p planned) is(r Result) bool {
	return r.Lock == p.Lock.id && r.Plan == p.Plan.Name && r.Seed == p.Seed
}
