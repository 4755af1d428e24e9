package report

import (
	"fmt"
	"html/template"
	"io"
	"path"
	"slices"

	"github.com/zkverify/zkverify/checker"
)

var nightTemplate = template.Must(template.New("night.tmpl").Funcs(template.FuncMap{"took": took}).ParseFS(files, "page/night.tmpl"))

// WriteHTML writes the night as one page that needs nothing but itself: a row for each run,
// a column for each guarantee, and links to what was kept of those that did not
// pass.
func (n *Night) WriteHTML(w io.Writer) error {
	style, _, err := assets()
	if err != nil {
		return err
	}
	var columns []string
	for _, r := range n.Results {
		for _, c := range r.Cases {
			if !slices.Contains(columns, c.Name) {
				columns = append(columns, c.Name)
			}
		}
	}
	type row struct {
		NightResult
		Outcome outcomeView
		Page    string // of the run, "" if nothing was kept
		Cells   []nightCell
	}
	var rows []row
	for _, r := range n.Results {
		line := row{NightResult: r, Outcome: signs[r.Outcome]}
		if r.Folder != "" {
			line.Page = path.Join(r.Folder, "report.html")
		}
		for _, name := range columns {
			line.Cells = append(line.Cells, r.worst(name))
		}
		rows = append(rows, line)
	}
	// What failed comes first.
	slices.SortStableFunc(rows, func(a, b row) int { return rank(a.NightResult) - rank(b.NightResult) })
	counts := ""
	for _, o := range []checker.Outcome{checker.Holds, checker.Violated, checker.Unknown, checker.NotExercised, checker.NotJudged} {
		if k := n.Count(o); k > 0 {
			if counts != "" {
				counts += ", "
			}
			counts += fmt.Sprintf("%d %s", k, o)
		}
	}
	return nightTemplate.Execute(w, map[string]any{
		"Night": n, "Columns": columns, "Rows": rows, "Counts": counts, "Style": template.CSS(style),
		"Policy": fmt.Sprintf("default-src 'none'; style-src '%s'; base-uri 'none'; form-action 'none'", digest(style)),
	})
}

// nightCell is what came of a guarantee in a run.
type nightCell struct {
	Outcome outcomeView // no text: it was not judged
	Why     string
}

// worst is what came of a guarantee, over all recipes of a run.
func (r *NightResult) worst(name string) nightCell {
	worst, why := checker.Outcome(""), ""
	for _, c := range r.Cases {
		o, reason := checker.Holds, ""
		switch {
		case c.Name != name:
			continue
		case c.Failure != "":
			o, reason = checker.Violated, c.Failure
		case c.Error != "":
			o, reason = checker.Unknown, c.Error
		case c.Skipped != "":
			o, reason = checker.NotExercised, c.Skipped
		}
		if worst == "" || severity(o) > severity(worst) {
			worst, why = o, reason
		}
	}
	return nightCell{signs[worst], why}
}

func severity(o checker.Outcome) int {
	return slices.Index([]checker.Outcome{checker.NotExercised, checker.Holds, checker.Unknown, checker.Violated}, o)
}

func rank(r NightResult) int {
	switch {
	case r.Outcome == checker.Violated:
		return 0
	case !r.Passed():
		return 1
	}
	return 2
}
