package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Every combination of what three guarantees may have come to, with what may be said
// of the run as a whole: the sentence that sums it up is true.
func TestTheSentenceOfAReportIsTrueWhateverItsVerdictsAre(t *testing.T) {
	names := []string{MutualExclusion, LossIsTold, NoLostUpdatePlain}
	var kinds []Verdict
	for _, o := range Outcomes() {
		for _, promised := range []bool{true, false} {
			if promised == (o == NotPromised) && o != Unknown {
				continue // see check.conclude
			}
			for _, expected := range []bool{true, false} {
				kinds = append(kinds, Verdict{Outcome: o, Promised: promised, Expected: expected, Reason: "because"})
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
				r.idle = "the faults have shown nothing"
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

// sentenceIsTrue holds what a report says of itself against its verdicts.
func sentenceIsTrue(t *testing.T, r *Report) {
	t.Helper()
	o, why := r.Outcome(), r.Reason()
	count := make(map[Outcome]int)
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Promised {
			count[v.Outcome]++
		}
	}
	wrong := func(what string) { t.Fatalf("%s: %s: %s, of %v", o, why, what, r.Verdicts) }
	if (r.Err() == nil) != (o == Holds) {
		wrong("its error says otherwise")
	}
	if o == Holds && (count[Holds] == 0 || count[Violated]+count[Unknown]+count[NotJudged] > 0 || r.idle != "" || len(r.Disagreements) > 0) {
		wrong("it does not hold")
	}
	if o != Holds && strings.HasPrefix(why, "every guarantee") {
		wrong("they do not all hold")
	}
	if strings.HasPrefix(why, "every guarantee that was promised holds") && count[NotExercised] > 0 {
		wrong("one is not exercised")
	}
	if count[Violated] > 0 && o != Violated && r.Late == "" && len(r.Disagreements)+len(r.Diverged) == 0 {
		wrong("one is violated")
	}
	if o == Violated && len(r.Diverged) > 0 {
		wrong("it is held against the target what a server may have done")
	}
	if r.Void() && o != Unknown {
		wrong("it has shown nothing")
	}
	if o != Holds && o != NotJudged {
		return
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		_, idle, _ := strings.Cut(why, "; not exercised: ")
		if named := strings.Contains(idle, v.Guarantee); named != (v.Promised && v.Outcome == NotExercised) {
			wrong(v.Guarantee + " is named as not exercised though it is, or not named though it is not")
		}
	}
}

func TestAServerThatWasWrongExcusesOnlyWhatBeginsAfterIt(t *testing.T) {
	violated := func(from ...time.Duration) Verdict {
		v := Verdict{Guarantee: MutualExclusion, Promised: true, Outcome: Violated, Reason: "two holders"}
		for _, at := range from {
			v.Witnesses = append(v.Witnesses, Witness{From: at})
		}
		return v
	}
	other := violated(9 * time.Second)
	other.Guarantee = Fencing
	for name, c := range map[string]struct {
		verdicts []Verdict
		want     Outcome
	}{
		"before":                    {[]Verdict{violated(4 * time.Second)}, Violated},
		"after":                     {[]Verdict{violated(6 * time.Second)}, Unknown},
		"before and after":          {[]Verdict{violated(4*time.Second, 6*time.Second)}, Violated},
		"one guarantee before":      {[]Verdict{other, violated(4 * time.Second)}, Violated},
		"both guarantees after":     {[]Verdict{other, violated(6 * time.Second)}, Unknown},
		"between two such servers":  {[]Verdict{violated(6 * time.Second)}, Unknown},
		"nothing, and so it holds":  {[]Verdict{{Guarantee: Fencing, Promised: true, Outcome: Holds}}, Holds},
		"something else is unknown": {[]Verdict{{Guarantee: Fencing, Promised: true, Outcome: Unknown}}, Unknown},
	} {
		r := &Report{Verdicts: c.verdicts, Diverged: []histories.Divergence{{Server: 2, Zxid: 7, Since: 5 * time.Second}, {Server: 1, Zxid: 9, Since: 8 * time.Second}}}
		if got := r.Outcome(); got != c.want || r.Void() != (got == Unknown && c.verdicts[0].Outcome == Violated) {
			t.Errorf("%s: %s (%s), void %v; want %s", name, got, r.Reason(), r.Void(), c.want)
		}
	}
}

func TestARunWithoutFaultsNamesWhatItDidNotExercise(t *testing.T) {
	good := newRun(t).cycle(0, 1, 1, 1).cycle(2, 3, 2, 2)
	good.h.Header.Promises.FIFO, good.h.Header.Promises.Reentrant = false, false
	r := good.report()
	v := r.Verdict(LossIsTold)
	if v.Outcome != NotExercised || !v.Promised || v.Expected {
		t.Fatalf("loss is told: %+v", v)
	}
	if o, why := r.Outcome(), r.Reason(); o != Holds || !strings.HasPrefix(why, "every guarantee that was promised and put to the test holds; not exercised: ") || !strings.Contains(why, LossIsTold) {
		t.Errorf("%s: %s", o, why)
	}
}

func TestNothingHoldsWhereNothingWasPutToTheTest(t *testing.T) {
	r := &Report{Verdicts: []Verdict{{Guarantee: LossIsTold, Outcome: NotExercised, Promised: true, Reason: "no session ended"}, {Guarantee: Fairness, Outcome: NotPromised, Reason: "not promised by the target"}}}
	if o, why := r.Outcome(), r.Reason(); o != NotExercised || why != "nothing in the history puts a guarantee to the test; not exercised: loss is told" {
		t.Errorf("%s: %s", o, why)
	}
}

func TestFiguresAreToldInWords(t *testing.T) {
	for _, c := range []struct {
		f    Figure
		want string
	}{
		{Figure{"told of the loss, median", -4171, fromItsEnd}, "told of the loss, median: 4.2 s before the session ended"},
		{Figure{"told of the loss, latest", 12.34, fromItsEnd}, "told of the loss, latest: 12.3 ms after the session ended"},
		{Figure{"told of the loss, latest", 0, fromItsEnd}, "told of the loss, latest: 0 ms after the session ended"},
		{Figure{"slowest first acquire in recovery", 1234, "ms"}, "slowest first acquire in recovery: 1.2 s"},
		{Figure{"slowest first acquire in recovery", 0.1234, "ms"}, "slowest first acquire in recovery: 0.123 ms"},
		{Figure{"operations", 12345678, ""}, "operations: 12345678"},
	} {
		if got := c.f.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestCoverageThatIsRequiredIsPartOfTheOutcome(t *testing.T) {
	verdicts := func(o Outcome) *Report {
		return &Report{
			Verdicts: []Verdict{{Guarantee: MutualExclusion, Outcome: o, Promised: true, Expected: true, Reason: "because"}},
			Recipes:  []RecipeUse{{Recipe: histories.Mutex}},
			Meetings: []Meetings{{Fault: "down", Recipe: histories.Mutex, Met: map[State]int{Idle: 1, Enqueuing: 1, Waiting: 1, Holding: 1, Releasing: 0}}},
		}
	}
	r := verdicts(Holds)
	if r.RequireCoverage(nil); r.Outcome() != Holds {
		t.Error("nothing is required, and it does not hold")
	}
	r.RequireCoverage([]string{"down"})
	if o, why := r.Outcome(), r.Reason(); o != NotExercised || why != "of the coverage that is required, 1 cell empty: down × mutex × releasing" {
		t.Errorf("%s: %s", o, why)
	}
	r = verdicts(Holds)
	r.RequireCoverage([]string{"down", "latency"}) // which never struck
	if why := r.Reason(); !strings.Contains(why, "6 cells empty: down × mutex × releasing, latency × mutex × idle, ") || !strings.HasSuffix(why, "… and 1 more") {
		t.Error(why)
	}
	r = verdicts(Violated)
	if r.RequireCoverage([]string{"down"}); r.Outcome() != Violated {
		t.Errorf("a violation is hidden: %s", r.Outcome())
	}
}
