package report_test

import (
	"bytes"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

func TestTwoRunsAreComparedSideBySide(t *testing.T) {
	run := func(seed int64, faults checker.Coverage, operations float64, verdicts ...verdict.Verdict) report.Judged {
		return report.Judged{Header: histories.Header{Target: "mine", Recipe: "mutex", Seed: seed}, Report: &checker.Report{
			Verdicts: verdicts, Coverage: faults, Figures: []verdict.Figure{{Name: "operations", Value: operations}, {Name: "longest", Value: 1500, Unit: "ms"}},
		}}
	}
	violated := func(guarantee string, times int, cause string) verdict.Verdict {
		return verdict.Verdict{Guarantee: guarantee, Outcome: verdict.Violated, Promised: true, Violations: times, Causes: []verdict.Cause{{What: cause, Count: times}}}
	}
	is := func(guarantee string, outcome verdict.Outcome) verdict.Verdict {
		return verdict.Verdict{Guarantee: guarantee, Outcome: outcome, Promised: outcome != verdict.NotPromised}
	}
	before := run(1, checker.Coverage{{Fault: "down", Starts: 3}}, 10,
		violated("fencing", 2, "early"), violated("fairness", 1, "early"), violated("progress", 4, "stuck"), is("no leak", verdict.Holds), is("permits", verdict.NotPromised))
	after := run(2, checker.Coverage{{Fault: "down", Starts: 1}, {Fault: "reset", Starts: 2}}, 20,
		is("fencing", verdict.Holds), is("fairness", verdict.NotExercised), violated("progress", 1, "stuck"), violated("no leak", 1, "late"), is("permits", verdict.NotPromised), is("observers", verdict.Holds))
	const head = `before: mine mutex, seed 1, 0 events
after: mine mutex, seed 2, 0 events
`
	for width, want := range map[int]string{
		80: head + `
guarantee  before            after
fencing    violated 2 times  holds          gone
fairness   violated once     not exercised  not decided
progress   violated 4 times  violated once  still
no leak    holds             violated once  new
observers  –                 holds

cause  before  after
early  3       0      not seen
stuck  4       1      still
late   0       1      new

fault  before  after
down   3       1
reset  0       2

figure      before  after
operations  10      20
longest     1.5 s   1.5 s
`,
		40: head + `
guarantee
  before            after
fencing
  violated 2 times  holds          gone
fairness
  violated once     not exercised  not decided
progress
  violated 4 times  violated once  still
no leak
  holds             violated once  new
observers
  –                 holds

cause  before  after
early  3       0      not seen
stuck  4       1      still
late   0       1      new

fault  before  after
down   3       1
reset  0       2

figure      before  after
operations  10      20
longest     1.5 s   1.5 s
`,
	} {
		var b bytes.Buffer
		if err := report.Comparison(&b, before, after, report.Style{Width: width}); err != nil || b.String() != want {
			t.Errorf("%d columns: %v\n%s\nwant\n%s", width, err, b.String(), want)
		}
	}
}
