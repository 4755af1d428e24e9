package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// maxShown is the number of violations of one cause that are not folded: the first ones are the
// most telling.
const maxShown = 3

// view is the data for the template of the page.
type view struct {
	Policy string
	Data   template.HTML // base64, which needs no escapes in HTML
	Style  template.CSS
	Script template.JS

	Name     string
	Header   *histories.Header
	Report   *checker.Report
	Outcome  outcomeView
	Reason   string
	Length   time.Duration
	Verdicts []verdictView // of the promised guarantees
	// NotPromised names the other guarantees.
	NotPromised string
	Groups      []*storyGroup
	Described   int // violations on the page
	Violations  int // in the run
	Coverage    []matrix
	Latency     []*latencyRow
	Series      []seriesData
	Several     bool // there are several recipes
	Rerun       string
	Check       string
	Faults      int
	Processes,
	Lanes int
	Past *pastView // nil: the page of a run
}

// outcomeView is an outcome with a sign that does not need a color.
type outcomeView struct{ Text, Class, Sign string }

type verdictView struct {
	*verdict.Verdict
	Outcome outcomeView
	Summary string
	Model   string
	First   int // 1 + the number of its first story; 0: none
}

// storyGroup holds the violations of one cause: First are shown, More are folded.
type storyGroup struct {
	Title       string // the cause, or the guarantee if the record does not tell it
	Broken      []brokenView
	First, More []storyView
}

// brokenView is a guarantee that is violated for a cause, with the numbers of its violations on the
// page, from 1.
type brokenView struct {
	*verdict.Verdict
	Count   int // of its violations for this cause; 0: not known
	Numbers []int
}

type storyView struct {
	Number    int // from 0, over all guarantees
	Guarantee string
	Text      string
	Fenced    string
	Faults    []string
	Lines     []storyLine
	MoreLines int // events around it that Lines leaves out
}

var signs = map[verdict.Outcome]outcomeView{
	verdict.Holds:        {"holds", "holds", "✓"},
	verdict.Violated:     {"violated", "violated", "✗"},
	verdict.Unknown:      {"unknown", "open", "?"},
	verdict.NotExercised: {"not exercised", "open", "∅"},
	verdict.NotJudged:    {"not judged", "open", "?"},
	verdict.NotPromised:  {"not promised", "none", "–"},
}

func viewOf(name string, p *pass, r *checker.Report) *view {
	v := &view{
		Name: name, Header: p.header, Report: r, Outcome: signs[r.Outcome()], Reason: r.Reason(), Length: p.end,
		Coverage: coverageMatrices(r), Latency: p.latency.sorted(), Series: p.latency.data(), Several: len(r.Recipes) > 1,
		Rerun: rerun(p.header, name), Check: "zkverify check " + words.ShellPath(name), Faults: len(p.faults),
		Processes: len(p.timeline.laneNo), Lanes: len(p.timeline.lanes),
	}
	described := r.Guarantees()
	first := map[string]int{}
	for i, s := range p.stories {
		if first[s.guarantee] == 0 {
			first[s.guarantee] = i + 1
		}
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Title != s.group() {
			v.Groups = append(v.Groups, &storyGroup{Title: s.group()})
		}
		v.Groups[len(v.Groups)-1].add(i, s, r)
	}
	v.Described, v.Violations = len(p.stories), violationsOf(r)
	var not []string
	for i := range r.Verdicts {
		judged := &r.Verdicts[i]
		if judged.Outcome == verdict.NotPromised {
			not = append(not, judged.Guarantee)
			continue
		}
		row := verdictView{Verdict: judged, Outcome: signs[judged.Outcome], First: first[judged.Guarantee]}
		if g := slices.IndexFunc(described, func(g checker.Guarantee) bool { return g.Name == judged.Guarantee }); g >= 0 {
			row.Summary, row.Model = described[g].Summary, described[g].Model
		}
		v.Verdicts = append(v.Verdicts, row)
	}
	v.NotPromised = strings.Join(not, "; ")
	return v
}

func describeFault(f verdict.FaultSpan) string {
	text := f.Title()
	if len(f.Targets) > 0 {
		text += " on " + strings.Join(f.Targets, ", ")
	}
	if f.Open {
		return fmt.Sprintf("%s, from %.6f s, never healed", text, f.From.Seconds())
	}
	return fmt.Sprintf("%s, from %.6f s to %.6f s", text, f.From.Seconds(), f.To.Seconds())
}

// took prints a duration, to three digits.
func took(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < 999500*time.Nanosecond:
		return fmt.Sprintf("%.3g µs", float64(d)/1e3)
	case d < 999500*time.Microsecond:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	case d < 999500*time.Millisecond:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}
