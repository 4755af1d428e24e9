package selftest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/mutants"
	"github.com/zkverify/zkverify/workload/targets"
)

func TestEveryMutantIsProvokedOnce(t *testing.T) {
	provoked := make(map[string]int)
	names := make(map[string]bool)
	for _, p := range Provocations() {
		if names[p.Name] {
			t.Errorf("two provocations are called %s", p.Name)
		}
		names[p.Name] = true
		if p.Config.Schedule == nil {
			t.Errorf("%s leaves its faults to chance", p.Name)
		}
		if len(p.Mutants) == 0 {
			t.Errorf("%s provokes nothing", p.Name)
		}
		for _, m := range p.Mutants {
			provoked[m]++
			i := slices.IndexFunc(targets.All(), func(t lock.Target) bool { return t.Name() == m })
			if i < 0 {
				t.Errorf("%s: there is no target %s", p.Name, m)
				continue
			}
			target := targets.All()[i]
			if d, _ := Known(m); d.Recipe != p.Recipe() || !slices.Contains(lock.RecipesOf(target), p.Recipe()) {
				t.Errorf("%s drives %s, which %s does not offer", p.Name, p.Recipe(), m)
			}
		}
	}
	for _, d := range mutants.Defects() {
		if provoked[d.Name] != 1 {
			t.Errorf("%s is provoked %d times", d.Name, provoked[d.Name])
		}
		if !slices.ContainsFunc(checker.Guarantees(), func(g checker.Guarantee) bool { return g.Name == d.Guarantee }) {
			t.Errorf("%s: there is no guarantee %q", d.Name, d.Guarantee)
		}
	}
}

func TestProvocationsAreSelectedByName(t *testing.T) {
	names := func(all []Provocation) (out []string) {
		for _, p := range all {
			out = append(out, p.Name+":"+strings.Join(p.Mutants, ","))
		}
		return out
	}
	for name, c := range map[string]struct {
		only []string
		of   []histories.Recipe
		want []string
		err  string
	}{
		"a mutant alone comes without the others of its provocation": {[]string{"naive"}, nil, []string{"silent-holder:naive"}, ""},
		"a provocation comes with all its mutants":                   {[]string{"reentry"}, nil, []string{"reentry:mutant-inner-release,mutant-depth-of-owner,mutant-acquired-twice"}, ""},
		"an unknown name is an error that says what is known":        {[]string{"mutant-none"}, nil, nil, `unknown mutant or provocation "mutant-none"; zkverify list mutants names the mutants, the provocations are: silent-holder`},
		"a mutant of another recipe than asked for is nothing":       {[]string{"naive"}, []histories.Recipe{histories.Semaphore}, nil, "no provocation"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Select(c.only, c.of)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v; want one that says %q", err, c.err)
				}
				return
			}
			if err != nil || !slices.Equal(names(got), c.want) {
				t.Errorf("%q, error %v; want %q", names(got), err, c.want)
			}
		})
	}
	all, err := Select(nil, nil)
	if err != nil || len(all) != len(Provocations()) {
		t.Errorf("%d provocations without a name, error %v; want all", len(all), err)
	}
}

// A mutant must be caught by its own guarantee, and the recipe must have exercised it.
func TestATrialIsJudgedByItsOwnGuarantee(t *testing.T) {
	verdicts := func(outcomes ...verdict.Outcome) *checker.Report {
		r := &checker.Report{}
		for i, name := range []string{checker.MutualExclusion, checker.Fairness} {
			v := verdict.Verdict{Guarantee: name, Outcome: outcomes[i], Promised: true, Expected: true}
			if v.Outcome == verdict.Violated {
				v.Witnesses = []verdict.Witness{{From: 3 * time.Second, What: "it broke"}}
			}
			r.Verdicts = append(r.Verdicts, v)
		}
		return r
	}
	for name, c := range map[string]struct {
		guarantee string
		report    *checker.Report
		ok        bool
	}{
		"a mutant that is caught":                       {checker.MutualExclusion, verdicts(verdict.Violated, verdict.Violated), true},
		"a mutant that another guarantee catches":       {checker.MutualExclusion, verdicts(verdict.Holds, verdict.Violated), false},
		"a mutant whose guarantee could not be decided": {checker.MutualExclusion, verdicts(verdict.Unknown, verdict.Holds), false},
		"a mutant of which it is not judged":            {checker.Permits, verdicts(verdict.Violated, verdict.Violated), false},
		"a recipe that passes":                          {"", verdicts(verdict.Holds, verdict.NotExercised), true},
		"a recipe that violates something else":         {"", verdicts(verdict.Holds, verdict.Violated), false},
		"a recipe that was not put to the test":         {"", verdicts(verdict.NotExercised, verdict.Holds), false},
		"a recipe of which nothing can be said":         {"", verdicts(verdict.Holds, verdict.Unknown), false},
	} {
		t.Run(name, func(t *testing.T) {
			trial := Trial{Target: "it", Guarantee: c.guarantee}
			trial.judge(c.report, []string{checker.MutualExclusion})
			if trial.OK != c.ok || trial.OK == (trial.Why != "") {
				t.Errorf("%+v", trial)
			}
			if trial.OK && c.guarantee != "" && (trial.Seen == nil || time.Duration(*trial.Seen) != 3*time.Second) {
				t.Errorf("seen at %v", trial.Seen)
			}
		})
	}
}
