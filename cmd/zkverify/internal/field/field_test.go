package field

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

//go:generate go test -run ^TestThePageInTheDocsIsThatOfTheCounts$ -update .

var update = flag.Bool("update", false, "write docs/field.md from testdata/counts.json and field.yaml")

func builtInField(t *testing.T) *Field {
	t.Helper()
	f, err := Of("")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The workers, targets and recipes that the built-in field names exist.
func TestTheBuiltInFieldNamesWhatThereIs(t *testing.T) {
	f := builtInField(t)
	for _, l := range f.Libraries {
		if command := strings.Fields(l.Worker); len(command) > 0 {
			if _, err := os.Stat(filepath.Join("../../../..", command[0])); err != nil {
				t.Error(err)
			}
		}
		for _, e := range l.Locks {
			recipe := histories.Recipe(e.Recipe)
			if e.Target == "" {
				continue
			}
			target, err := targets.Named(e.Target)
			if err != nil {
				t.Error(err)
			} else if !offers(target, recipe) {
				t.Errorf("target %s has no %s", e.Target, recipe)
			}
		}
	}
}

func offers(t lock.Target, r histories.Recipe) bool {
	if all, ok := t.(interface{ Recipes() []histories.Recipe }); ok {
		for _, each := range all.Recipes() {
			if each == r {
				return true
			}
		}
	}
	return t.Recipe() == string(r)
}

// The example on the Markdown page is a valid field.
func TestTheExampleOfThePageIsAField(t *testing.T) {
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(markdownText)
	if example == nil {
		t.Fatal("there is no example")
	}
	file := filepath.Join(t.TempDir(), "example.yaml")
	if err := os.WriteFile(file, []byte(example[1]), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Of(file)
	if err != nil {
		t.Fatal(err)
	}
	if p := f.planned(nil, nil, 7, 1); len(p) != 4 || p[1].Command() != "OUR_LOCKS=1.2.0 zkverify run --workers 3 --clients 6 --locks 1 --duration 25s --recipe mutex --worker-command './our-worker lock --careless' --faults expire-session,expire-silence --seed 7" {
		t.Errorf("%d runs, the second one %s", len(p), p[1].Command())
	}
}

// Every lock has its run under a plan before the first has one under the next.
func TestEachPlanIsForAllLocks(t *testing.T) {
	f := builtInField(t)
	runs, locks := f.planned(nil, nil, 3, 2), f.Locks()
	if len(runs) != 2*len(f.Plans)*len(locks) {
		t.Fatalf("%d runs of %d locks under %d plans with 2 seeds", len(runs), len(locks), len(f.Plans))
	}
	for i, r := range runs {
		plan, seed := f.Plans[i/len(locks)%len(f.Plans)], 3+int64(i/len(locks)/len(f.Plans))
		if r.Lock.id != locks[i%len(locks)].id || r.Plan.Name != plan.Name || r.Seed != seed {
			t.Fatalf("run %d is %s under %s with seed %d", i, r.Lock.id, r.Plan.Name, r.Seed)
		}
	}
}

// ofLock returns a result of a lock of the built-in field.
func ofLock(lock, plan string, seed int64, verdicts ...Verdict) Result {
	return Result{Lock: lock, Plan: plan, Result: campaign.Result{Seed: seed}, Verdicts: verdicts}
}

func violatedWith(guarantee string, events int, faults ...string) Verdict {
	return Verdict{Verdict: campaign.Verdict{Guarantee: guarantee, Outcome: verdict.Violated, Promised: true, Violations: 1, Faults: faults, What: "it was"}, Events: events}
}

func said(guarantee string, o verdict.Outcome, promised bool) Verdict {
	return Verdict{Verdict: campaign.Verdict{Guarantee: guarantee, Outcome: o, Promised: promised}}
}

func TestCellsCountRuns(t *testing.T) {
	f := builtInField(t)
	const lock, mutual = "go-zookeeper-1.0.4/Lock", "mutual exclusion"
	f.Explanations = []Explanation{{ID: "belief", Title: "Belief", Locks: []string{"go-zookeeper-*"}, Guarantees: []string{mutual}, Faults: []string{"expire-silence"}}}
	s := &State{Results: []Result{
		ofLock(lock, "ends of sessions", 1, violatedWith(mutual, 12, "expire-silence"), said("fencing", verdict.NotPromised, false)),
		ofLock(lock, "ends of sessions", 2, said(mutual, verdict.Holds, true)),
		ofLock(lock, "processes", 1, violatedWith(mutual, 9, "kill-worker"), violatedWith("no leak", 3)),
		ofLock(lock, "deleted nodes", 1, said(mutual, verdict.NotExercised, true)),
		{Lock: "kazoo-2.8.0/Lock", Plan: "processes", Result: campaign.Result{Seed: 1, Missing: "no kazoo"}},
		{Lock: "textbook/one-node", Plan: "links of clients", Result: campaign.Result{Seed: 1}, Verdicts: []Verdict{said(mutual, verdict.Holds, true), said("progress", verdict.Holds, true)}},
		{Lock: "textbook/one-node", Plan: "deleted nodes", Result: campaign.Result{Seed: 1, Idle: "none started"}, Verdicts: []Verdict{said(mutual, verdict.Holds, true)}},
	}}
	p := pageOf(f, s)
	if p.Runs != 6 || p.Seeds != 2 {
		t.Errorf("%d runs, %d seeds", p.Runs, p.Seeds)
	}
	var text strings.Builder
	if err := p.markdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"|lock|mutual exclusion|no leak|the rest|",
		"|go-zookeeper-1.0.4/Lock|✗ 2/3, not explained|✗ 1/1, not explained||",
		"|kazoo-2.8.0/Lock|not run: no kazoo|",
		"|textbook/one-node|✓ 1||✓ 1|", // no fault of one plan has struck
		"No lock violated: progress.",
		"1 of 1 of go-zookeeper-1.0.4, 0 of 1 of textbook",
		"|go-zookeeper-1.0.4/Lock|1|ends of sessions||",
		"**go-zookeeper-1.0.4/Lock: mutual exclusion; no leak**, such as: it was",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if all := p.Findings(); len(all) != 1 || all[0].Groups.Shortest().Verdict.Events != 12 {
		t.Errorf("what is explained: %+v", all)
	}
	if all := p.Groups(""); len(all) != 1 || len(all[0].Cells) != 2 || all[0].Run.Plan != "processes" || all[0].Verdict.Events != 3 {
		t.Errorf("what is not explained: %+v", all)
	}
	var page strings.Builder
	if err := p.html(&page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), `<span class="badge open">✗ 2/3, not explained</span>`) || strings.Contains(page.String(), "ZgotmplZ") {
		t.Errorf("the page:\n%s", page.String())
	}
}

// The folders of the shortest violations are kept: over all plans, and under each.
func TestTheShortestViolationsAreKept(t *testing.T) {
	dir := t.TempDir()
	s := &State{}
	for i, v := range []struct {
		plan   string
		events int
		kept   bool
	}{{"a", 20, false}, {"a", 12, true}, {"b", 30, true}, {"b", 31, false}, {"a", 12, false}} {
		r := ofLock("l", v.plan, int64(i), violatedWith("mutual exclusion", v.events))
		r.Folder = filepath.Join("runs", v.plan+string(rune('0'+i)))
		if err := os.MkdirAll(filepath.Join(dir, r.Folder), 0o755); err != nil {
			t.Fatal(err)
		}
		s.Results = append(s.Results, r)
	}
	if err := (runner{dir: dir}).tidy(s); err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
	if err != nil || len(kept) != 2 || filepath.Base(kept[0]) != "a1" || filepath.Base(kept[1]) != "b2" {
		t.Errorf("%q is kept, %v", kept, err)
	}
	if s.Results[0].Folder != "" || s.Results[1].Folder == "" {
		t.Errorf("the results name other folders: %+v", s.Results)
	}
}

func TestNamesOfLocks(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		is            bool
	}{
		{"curator-5.4.0/LeaderLatch", "curator-5.4.0/LeaderLatch", true},
		{"curator-5.4.0/LeaderLatch", "curator-5.4.0/LeaderLatch/careless", true},
		{"curator-*", "curator-5.7.1/InterProcessMutex", true},
		{"curator-*/*/careless", "curator-5.7.1/InterProcessMutex", false},
		{"kazoo-*/Lock", "kazoo-2.8.0/Lock", true},
		{"Lock", "kazoo-2.8.0/Lock", false},
	} {
		if matches([]string{c.pattern}, c.name) != c.is {
			t.Errorf("%q and %q", c.pattern, c.name)
		}
	}
}

// A violation is explained by its text, since two bugs may violate one guarantee.
func TestAnExplanationGoesByTheWordsOfAViolation(t *testing.T) {
	f := builtInField(t)
	for what, id := range map[string]string{
		"process 5 left round 1 of barrier \"b\" at 0.8 s, while process 0 was inside": "double-barrier-leaves-early",
		"process 5 entered round 3 of barrier \"b\" at 17 s, when 1 of its 3 had come": "double-barrier-enters-alone",
		"process 5 did another thing": "",
	} {
		e := f.explained(&Result{Lock: "curator-5.7.1/DistributedDoubleBarrier"}, Verdict{Verdict: campaign.Verdict{Guarantee: "barriers", What: what}})
		if e != nil && e.ID != id || e == nil && id != "" {
			t.Errorf("%q is explained by %+v, not %q", what, e, id)
		}
	}
}

// Nodes that are left at the end of a run have no time, and so no fault that struck them.
func TestWhatIsJudgedAtTheEndIsExplainedByTheFaultsOfThePlan(t *testing.T) {
	f := builtInField(t)
	for plan, explained := range map[string]bool{"no quorum": true, "all faults": true, "ends of sessions": false, "": false} {
		left := Verdict{Verdict: campaign.Verdict{Guarantee: "no leak", What: "1 contender node left"}}
		if e := f.explained(&Result{Lock: "kazoo-2.8.0/Lock", Plan: plan}, left); (e != nil) != explained {
			t.Errorf("a node left under %q is explained by %+v", plan, e)
		}
	}
	held := Verdict{Verdict: campaign.Verdict{Guarantee: "mutual exclusion"}}
	if e := f.explained(&Result{Lock: "kazoo-2.8.0/Lock", Plan: "cut-off servers"}, held); e != nil {
		t.Errorf("two holders that no fault struck are explained by %+v", e)
	}
}

// Two bugs may violate one guarantee. The other violations of the run tell them apart.
func TestAnExplanationGoesByWhatElseTheRunViolates(t *testing.T) {
	f := builtInField(t)
	violated := func(guarantee, what string) Verdict {
		return Verdict{Verdict: campaign.Verdict{Guarantee: guarantee, Outcome: verdict.Violated, Promised: true, What: what}}
	}
	starved, left := violated("progress", "process 0 did not get lock \"l\""), violated("no leak", "1 contender node left when every client had released")
	for id, verdicts := range map[string][]Verdict{
		"semaphore-two-leases":  {starved},
		"semaphore-interrupted": {starved, left},
	} {
		if e := f.explained(&Result{Lock: "curator-5.7.1/InterProcessSemaphoreMutex", Verdicts: verdicts}, starved); e == nil || e.ID != id {
			t.Errorf("%d violations: the first is explained by %+v, not %q", len(verdicts), e, id)
		}
	}
}

// The Markdown page groups the violations of a lock by the run that was repeated, and says how often
// each came back: also what never did, and what longer repeats had again.
func TestTheTableOfAFindingSaysWhatCameBack(t *testing.T) {
	f := builtInField(t)
	f.Explanations = []Explanation{{ID: "why", Title: "Why", Locks: []string{"*"}, Guarantees: []string{"fairness", "fencing", "progress", "no leak"}, Why: "so", Source: []string{"a.go:1"}}}
	run := ofLock("recipes/Mutex", "no faults", 1, violatedWith("fairness", 3), violatedWith("fencing", 3), violatedWith("progress", 3))
	run.Again = []Repeats{{"fairness", 0, 10, ""}, {"fencing", 1, 10, ""}, {"fairness", 0, 4, "longer"}, {"fencing", 3, 4, "zkverify run --duration 2m0s --seed 1"}}
	s := &State{Results: []Result{
		run,
		ofLock("recipes/Mutex", "processes", 1, violatedWith("fairness", 9)),
		ofLock("recipes/Mutex", "no quorum", 3, violatedWith("no leak", 9)),
	}}
	var page bytes.Buffer
	if err := pageOf(f, s).markdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"|lock|fencing|fairness|progress|no leak|plan|also under|",
		"|recipes/Mutex|1 (3/4 of 2m)|2 (0/14)|1||no faults|processes|", // progress was not repeated yet
		"|recipes/Mutex||||1|no quorum, seed 3||",
	} {
		if !strings.Contains(page.String(), want+"\n") {
			t.Errorf("no %q in\n%s", want, &page)
		}
	}
}

// docs/field.md is made from the counts of a field, and from the locks, plans and explanations of
// today.
func TestThePageInTheDocsIsThatOfTheCounts(t *testing.T) {
	const file = "../../../../docs/field.md"
	counts, err := os.ReadFile("testdata/counts.json")
	if err != nil {
		t.Fatal(err)
	}
	p := &page{Field: builtInField(t)}
	if err := json.Unmarshal(counts, p); err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Rows {
		for _, g := range r.Groups {
			if !slices.ContainsFunc(p.Field.Explanations, func(e Explanation) bool { return e.ID == g.Cause }) {
				t.Fatalf("field.yaml does not explain the violations of %s by %q", r.ID, g.Cause)
			}
		}
	}
	var want strings.Builder
	if err := p.markdown(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != want.String() {
		t.Errorf("docs/field.md is not up to date: run go generate ./cmd/zkverify/internal/field (%v)", err)
	}
}
