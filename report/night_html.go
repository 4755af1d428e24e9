package report

import (
	"fmt"
	"html/template"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
)

var nightTemplate = template.Must(template.New("night.tmpl").Funcs(template.FuncMap{"took": took, "count": words.Count[int]}).ParseFS(files, "page/night.tmpl", "page/matrix.tmpl"))

// nightLine is a run on the page.
type nightLine struct {
	NightResult
	Outcome outcomeView
	Page    string // the page of the run, "" if the run was not kept
	Command string // the command that runs it again
	Cells   []nightCell
}

// nightCell is the result of a guarantee in a run, over all recipes.
type nightCell struct {
	Outcome outcomeView // no text: the run does not have the guarantee
	Why     string
}

// WriteHTML writes the night as one self-contained page: the results of each guarantee of
// each recipe, a row for each run, the worst first, with links to the folders of the runs
// that did not pass, and the coverage of all runs.
func (n *Night) WriteHTML(w io.Writer) error {
	style, policy, err := Stylesheet()
	if err != nil {
		return err
	}
	columns := n.columns()
	var lines []nightLine
	for _, r := range n.Results {
		line := nightLine{NightResult: r, Outcome: signs[r.Outcome], Command: r.Replay("")}
		if r.Folder != "" {
			line.Page = path.Join(r.Folder, "report.html")
		}
		for _, name := range columns {
			line.Cells = append(line.Cells, r.worst(name))
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(lines, func(a, b nightLine) int { return rank(a.NightResult) - rank(b.NightResult) })
	operations, faults := n.sums()
	return nightTemplate.Execute(words.Page(w), map[string]any{
		"Night": n, "Outcome": signs[n.Outcome()], "Missing": n.missing(), "Operations": operations, "Faults": faults,
		"Causes": n.causeLines(), "Table": n.table(), "Columns": columns, "Lines": lines, "Counts": n.counts(), "Style": template.CSS(style),
		"Coverage":   coverageMatrices(&checker.Report{Coverage: n.Coverage, Meetings: n.Meetings}),
		"Situations": situationLines(n.Situations), "Policy": policy,
	})
}

// columns returns the guarantees of the runs, and the other names of cases.
func (n *Night) columns() (columns []string) {
	for _, r := range n.Results {
		for _, c := range r.Cases {
			if !slices.Contains(columns, c.Guarantee) {
				columns = append(columns, c.Guarantee)
			}
		}
	}
	return columns
}

// worst returns the worst result of a guarantee, over all recipes of a run.
func (r *NightResult) worst(name string) nightCell {
	worst := verdict.Outcome("")
	var why []string
	for _, c := range r.Cases {
		if c.Guarantee != name {
			continue
		}
		worst = verdict.Worse(worst, c.Outcome)
		if c.Reason != "" {
			why = append(why, fmt.Sprintf("%s: %s: %s", c.Recipe, c.Outcome, c.Reason))
		}
	}
	return nightCell{signs[worst], strings.Join(why, "\n")}
}

// rank orders runs: failed runs first, then runs that prove less than they should.
func rank(r NightResult) int {
	if r.Trouble != "" && r.Outcome != verdict.Violated {
		return rank(NightResult{Outcome: verdict.Unknown})
	}
	return slices.Index(verdict.Outcomes(), r.Outcome)
}
