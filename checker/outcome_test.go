package checker

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// For every combination of the outcomes of three guarantees, and of the facts about the run as
// a whole, the sentence that summarizes the report is true.
func TestTheSentenceOfAReportIsTrueWhateverItsVerdictsAre(t *testing.T) {
	names := []string{MutualExclusion, LossIsTold, NoLostUpdatePlain}
	var kinds []verdict.Verdict
	for _, o := range verdict.Outcomes() {
		for _, promised := range []bool{true, false} {
			if promised == (o == verdict.NotPromised) && o != verdict.Unknown {
				continue // see check.conclude
			}
			for _, expected := range []bool{true, false} {
				kinds = append(kinds, verdict.Verdict{Outcome: o, Promised: promised, Expected: expected, Reason: "because"})
			}
		}
	}
	n := 0
	for i := range len(kinds) * len(kinds) * len(kinds) {
		for whole := range 16 {
			r := &Report{}
			for k, at := 0, i; k < len(names); k, at = k+1, at/len(kinds) {
				v := kinds[at%len(kinds)]
				v.Guarantee = names[k]
				r.Verdicts = append(r.Verdicts, v)
			}
			if whole&1 > 0 {
				r.idle = "inconclusive: no lease was held when a fault started"
			}
			if whole&2 > 0 {
				r.Disagreements = []string{"only 1 of 3 servers has /x"}
			}
			if whole&4 > 0 {
				r.Late = "the machine was too busy"
			}
			if whole&8 > 0 {
				r.Diverged = []histories.Divergence{{Server: 1, Zxid: 5, Since: time.Second}}
			}
			sentenceIsTrue(t, r)
			n++
		}
	}
	if n < 10_000 {
		t.Errorf("only %d reports", n)
	}
}

// sentenceIsTrue compares the outcome and reason of a report with its verdicts.
func sentenceIsTrue(t *testing.T, r *Report) {
	t.Helper()
	o, why := r.Outcome(), r.Reason()
	count := make(map[verdict.Outcome]int)
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Promised {
			count[v.Outcome]++
		}
	}
	wrong := func(what string) { t.Fatalf("%s: %s: %s, of %v", o, why, what, r.Verdicts) }
	if (r.Err() == nil) != (o == verdict.Holds) {
		wrong("its error says otherwise")
	}
	if o == verdict.Holds && (count[verdict.Holds] == 0 || count[verdict.Violated]+count[verdict.Unknown]+count[verdict.NotJudged] > 0 || r.idle != "" || len(r.Disagreements) > 0) {
		wrong("it does not hold")
	}
	if o != verdict.Holds && strings.HasPrefix(why, "every guarantee") {
		wrong("they do not all hold")
	}
	if strings.HasPrefix(why, "every guarantee that was promised holds") && count[verdict.NotExercised] > 0 {
		wrong("one is not exercised")
	}
	if count[verdict.Violated] > 0 && o != verdict.Violated && r.Late == "" && len(r.Disagreements)+len(r.Diverged) == 0 {
		wrong("one is violated")
	}
	if o == verdict.Violated && len(r.Diverged) > 0 {
		wrong("it is held against the target what a server may have done")
	}
	if r.Void() && o != verdict.Unknown {
		wrong("it has shown nothing")
	}
	if o != verdict.Holds && o != verdict.NotJudged {
		return
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		_, idle, _ := strings.Cut(why, "; not exercised: ")
		if named := strings.Contains(idle, v.Guarantee); named != (v.Promised && v.Outcome == verdict.NotExercised) {
			wrong(v.Guarantee + " is named as not exercised though it is, or not named though it is not")
		}
	}
}

func TestAServerThatWasWrongExcusesOnlyWhatBeginsAfterIt(t *testing.T) {
	violated := func(from ...time.Duration) verdict.Verdict {
		v := verdict.Verdict{Guarantee: MutualExclusion, Promised: true, Outcome: verdict.Violated, Reason: "two holders"}
		for _, at := range from {
			v.Witnesses = append(v.Witnesses, verdict.Witness{From: at})
		}
		return v
	}
	other := violated(9 * time.Second)
	other.Guarantee = Fencing
	for name, c := range map[string]struct {
		verdicts []verdict.Verdict
		want     verdict.Outcome
	}{
		"before":                    {[]verdict.Verdict{violated(4 * time.Second)}, verdict.Violated},
		"after":                     {[]verdict.Verdict{violated(6 * time.Second)}, verdict.Unknown},
		"before and after":          {[]verdict.Verdict{violated(4*time.Second, 6*time.Second)}, verdict.Violated},
		"one guarantee before":      {[]verdict.Verdict{other, violated(4 * time.Second)}, verdict.Violated},
		"both guarantees after":     {[]verdict.Verdict{other, violated(6 * time.Second)}, verdict.Unknown},
		"between two such servers":  {[]verdict.Verdict{violated(6 * time.Second)}, verdict.Unknown},
		"nothing, and so it holds":  {[]verdict.Verdict{{Guarantee: Fencing, Promised: true, Outcome: verdict.Holds}}, verdict.Holds},
		"something else is unknown": {[]verdict.Verdict{{Guarantee: Fencing, Promised: true, Outcome: verdict.Unknown}}, verdict.Unknown},
	} {
		r := &Report{Verdicts: c.verdicts, Diverged: []histories.Divergence{{Server: 2, Zxid: 7, Since: 5 * time.Second}, {Server: 1, Zxid: 9, Since: 8 * time.Second}}}
		if got := r.Outcome(); got != c.want || r.Void() != (got == verdict.Unknown && c.verdicts[0].Outcome == verdict.Violated) {
			t.Errorf("%s: %s (%s), void %v; want %s", name, got, r.Reason(), r.Void(), c.want)
		}
	}
}

// Servers that disagree show a bug of ZooKeeper only if they are ZooKeeper servers.
func TestWhoseBugItIsThatServersDisagree(t *testing.T) {
	for kind, bug := range map[string]string{
		"local": "a bug of ZooKeeper", "docker": "a bug of ZooKeeper", "external": "a bug of ZooKeeper",
		"simulated": "a bug of the simulated servers, not of ZooKeeper",
	} {
		run := newRun(t).cycle(0, 1, 1, 1)
		run.h.Header.Ensemble = kind
		r := run.report()
		r.Disagreements = []string{"server 2 lacks a node"}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var read Report
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		excused := &Report{
			Verdicts:  []verdict.Verdict{{Guarantee: Fencing, Promised: true, Outcome: verdict.Violated, Witnesses: []verdict.Witness{{From: 6 * time.Second}}}},
			ZooKeeper: r.ZooKeeper, Diverged: []histories.Divergence{{Server: 2, Zxid: 7, Since: 5 * time.Second}},
		}
		for name, r := range map[string]*Report{"judged": r, "read back": &read, "wrong for a while": excused} {
			why := r.Reason()
			if r.Outcome() != verdict.Unknown || !strings.Contains(why, ", which is "+bug) || kind == "simulated" && strings.Contains(why, "which is a bug of ZooKeeper") {
				t.Errorf("%s, %s: %s", kind, name, why)
			}
		}
	}
}

func TestARunWithoutFaultsNamesWhatItDidNotExercise(t *testing.T) {
	good := newRun(t).cycle(0, 1, 1, 1).cycle(2, 3, 2, 2)
	good.h.Header.Promises.FIFO, good.h.Header.Promises.Reentrant = false, false
	r := good.report()
	v := r.Verdict(LossIsTold)
	if v.Outcome != verdict.NotExercised || !v.Promised || v.Expected {
		t.Fatalf("loss is told: %+v", v)
	}
	if o, why := r.Outcome(), r.Reason(); o != verdict.Holds || !strings.HasPrefix(why, "every guarantee that was promised and put to the test holds; not exercised: ") || !strings.Contains(why, LossIsTold) {
		t.Errorf("%s: %s", o, why)
	}
}

func TestNothingHoldsWhereNothingWasPutToTheTest(t *testing.T) {
	r := &Report{Verdicts: []verdict.Verdict{{Guarantee: LossIsTold, Outcome: verdict.NotExercised, Promised: true, Reason: "no session ended"}, {Guarantee: Fairness, Outcome: verdict.NotPromised, Reason: "not promised by the target"}}}
	if o, why := r.Outcome(), r.Reason(); o != verdict.NotExercised || why != "nothing in the history puts a guarantee to the test; not exercised: loss is told" {
		t.Errorf("%s: %s", o, why)
	}
}

func TestFiguresAreToldInWords(t *testing.T) {
	for _, c := range []struct {
		f    verdict.Figure
		want string
	}{
		{verdict.Figure{Name: "told of the loss, median", Value: -4171, Unit: verdict.AfterSessionEnd}, "told of the loss, median: 4.2 s before the session ended"},
		{verdict.Figure{Name: "told of the loss, latest", Value: 12.34, Unit: verdict.AfterSessionEnd}, "told of the loss, latest: 12.3 ms after the session ended"},
		{verdict.Figure{Name: "told of the loss, latest", Value: 0, Unit: verdict.AfterSessionEnd}, "told of the loss, latest: 0 ms after the session ended"},
		{verdict.Figure{Name: "slowest first acquire in recovery", Value: 1234, Unit: "ms"}, "slowest first acquire in recovery: 1.2 s"},
		{verdict.Figure{Name: "slowest first acquire in recovery", Value: 0.1234, Unit: "ms"}, "slowest first acquire in recovery: 0.123 ms"},
		{verdict.Figure{Name: "operations", Value: 12345678, Unit: ""}, "operations: 12345678"},
	} {
		if got := c.f.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestCoverageThatIsRequiredIsPartOfTheOutcome(t *testing.T) {
	verdicts := func(o verdict.Outcome) *Report {
		return &Report{
			Verdicts: []verdict.Verdict{{Guarantee: MutualExclusion, Outcome: o, Promised: true, Expected: true, Reason: "because"}},
			Recipes:  []RecipeUse{{Recipe: histories.Mutex}},
			Meetings: []Meetings{{Fault: "down", Recipe: histories.Mutex, Met: map[State]int{Idle: 1, Enqueuing: 1, Waiting: 1, Holding: 1, Releasing: 0}}},
		}
	}
	r := verdicts(verdict.Holds)
	if r.RequireCoverage(nil); r.Outcome() != verdict.Holds {
		t.Error("nothing is required, and it does not hold")
	}
	r.RequireCoverage([]string{"down"})
	if o, why := r.Outcome(), r.Reason(); o != verdict.NotExercised || why != "1 required combination of fault, recipe and state did not occur: down × mutex × releasing" {
		t.Errorf("%s: %s", o, why)
	}
	r = verdicts(verdict.Holds)
	r.RequireCoverage([]string{"down", "latency"}) // which never struck
	if why := r.Reason(); !strings.Contains(why, "6 required combinations of fault, recipe and state did not occur: down × mutex × releasing, latency × mutex × idle, ") || !strings.HasSuffix(why, "… and 1 more") {
		t.Error(why)
	}
	r = verdicts(verdict.Violated)
	if r.RequireCoverage([]string{"down"}); r.Outcome() != verdict.Violated {
		t.Errorf("a violation is hidden: %s", r.Outcome())
	}
}
