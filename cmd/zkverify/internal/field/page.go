package field

import (
	"bytes"
	"cmp"
	_ "embed" // the templates
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	text "text/template"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/report"
)

// page holds the data of the pages. With the field, its JSON is enough for the Markdown page.
type page struct {
	Version string    `json:"zkverify"`
	Started time.Time `json:"started"`
	Runs    int       `json:"runs"` // that took place
	Seeds   int       `json:"seeds"`
	Rows    []row     `json:"locks"`
	Field   *Field    `json:"-"`
}

// row is a lock, with a cell for each guarantee that it promises.
type row struct {
	Lock    Lock             `json:"-"`
	ID      string           `json:"lock"`
	Runs    int              `json:"runs"`
	Missing string           `json:"missing,omitempty"` // why there is no run
	Cells   map[string]*cell `json:"guarantees,omitempty"`
	Groups  groups           `json:"violations,omitempty"`
}

// cell holds the number of runs that violated a guarantee, and of those that put it to the test.
type cell [2]int

// group holds the violations of a lock for one reason that one run shows.
type group struct {
	Lock  string   `json:"-"`
	Cause string   `json:"cause,omitempty"` // the ID of the explanation, "" for none
	Plans []string `json:"plans"`           // of all runs with such a violation; first that of the one to show
	Seed  int64    `json:"seed"`            // of that run
	// Cells have the number of runs that violated a guarantee, and how often it came back.
	Cells   map[string]string `json:"guarantees"`
	Run     *Result           `json:"-"`
	Verdict *Verdict          `json:"-"` // the shortest of the run
}

// groups are those of one reason, of one lock, or all.
type groups []group

// pageOf returns the data of the pages for the results so far.
func pageOf(f *Field, s *State) *page {
	p := &page{Version: s.Version, Started: s.Started, Field: f}
	seeds := map[int64]bool{}
	for _, l := range f.Locks() {
		row := row{Lock: l, ID: l.id, Cells: map[string]*cell{}, Groups: f.groups(s, l)}
		for i := range s.Results {
			r := &s.Results[i]
			switch {
			case r.Lock != l.id:
			case r.Missing != "":
				row.Missing = r.Missing
			default:
				row.Runs++
				seeds[r.Seed] = true
				row.count(r)
			}
		}
		if row.Runs > 0 || row.Missing != "" {
			p.Runs += row.Runs
			p.Rows = append(p.Rows, row)
		}
	}
	p.Seeds = len(seeds)
	return p
}

// count adds the verdicts of a run.
func (r *row) count(result *Result) {
	for _, v := range result.Verdicts {
		if !v.Promised {
			continue
		}
		c := r.Cells[v.Guarantee]
		if c == nil {
			c = new(cell)
			r.Cells[v.Guarantee] = c
		}
		switch {
		case v.Violated():
			*c = cell{c[0] + 1, c[1] + 1}
		case v.Outcome == verdict.Holds && result.Idle == "":
			c[1]++
		}
	}
}

// line is a line of the pages about a lock: the violations of a guarantee for a reason.
type line struct {
	cause     string // the ID of the explanation, "" for none
	guarantee string
}

// lineOf returns the line of the pages of which a violation in the run is a case.
func (f *Field) lineOf(r *Result, v *Verdict) line {
	if e := f.explained(r, *v); e != nil {
		return line{e.ID, v.Guarantee}
	}
	return line{"", v.Guarantee}
}

// linesOf returns the lines of the pages of which a run is a case.
func (f *Field) linesOf(r *Result) (all []line) {
	for _, v := range r.violated() {
		all = append(all, f.lineOf(r, v))
	}
	return all
}

// lines returns the runs in which a lock violated a guarantee, and the lines of the page for it.
func (f *Field) lines(s *State, l Lock) (runs []*Result, lines []line) {
	for i := range s.Results {
		r := &s.Results[i]
		if r.Lock != l.id || len(r.violated()) == 0 {
			continue
		}
		runs = append(runs, r)
		for _, one := range f.linesOf(r) {
			if !slices.Contains(lines, one) {
				lines = append(lines, one)
			}
		}
	}
	return runs, lines
}

// without returns those of the lines that a run does not have, or that came back in less than the
// given share of its repeats.
func without(lines []line, f *Field, r *Result, share float64) []line {
	has := f.linesOf(r)
	return slices.DeleteFunc(slices.Clone(lines), func(one line) bool {
		return slices.Contains(has, one) && r.cameBack(one.guarantee) >= share
	})
}

// groups returns the violations of a lock.
func (f *Field) groups(s *State, l Lock) (all groups) {
	violating, lines := f.lines(s, l)
	for _, one := range lines {
		shown, v := s.shown(func(r *Result, v Verdict) bool { return r.Lock == l.id && f.lineOf(r, &v) == one })
		at := slices.IndexFunc(all, func(g group) bool { return g.Cause == one.cause && g.Run == shown })
		if at < 0 {
			at, all = len(all), append(all, group{Cause: one.cause, Plans: []string{shown.Plan}, Seed: shown.Seed, Cells: map[string]string{}, Run: shown, Verdict: v})
		}
		g, n := &all[at], 0
		for _, r := range violating {
			if slices.Contains(f.linesOf(r), one) {
				n++
				if !slices.Contains(g.Plans, r.Plan) {
					g.Plans = append(g.Plans, r.Plan)
				}
			}
		}
		g.Cells[one.guarantee] = fmt.Sprint(n) + shown.mostOften(one.guarantee).String()
		if v.Events < g.Verdict.Events {
			g.Verdict = v
		}
	}
	return all
}

const unexplained = "not explained"

// Sign returns the cell of a guarantee as a short text.
func (r row) Sign(guarantee string) string {
	c := r.Cells[guarantee]
	switch {
	case c == nil:
		return ""
	case c[0] > 0 && slices.ContainsFunc(r.Groups, func(g group) bool { return g.Cause == "" && g.Cells[guarantee] != "" }):
		return fmt.Sprintf("✗ %d/%d, %s", c[0], c[1], unexplained)
	case c[0] > 0:
		return fmt.Sprintf("✗ %d/%d", c[0], c[1])
	case c[1] > 0:
		return fmt.Sprintf("✓ %d", c[1])
	}
	return "?"
}

// Sum returns the number of verdicts on some guarantees.
func (r row) Sum(guarantees []string) (n int) {
	for _, g := range guarantees {
		if c := r.Cells[g]; c != nil {
			n += c[1]
		}
	}
	return n
}

// sorted returns guarantees, each once, in the order of their columns: those that matter most to
// users come first.
func sorted(guarantees []string) []string {
	order := []string{"mutual exclusion", "read/write", "permits", "multi-lock", "barriers", "no lost update, plain", "no lost update, fenced", "no lost update, guarded", "fencing", "loss is told", "answers are true", "fairness", "reentrancy", "progress", "no leak", "revocation", "observers", "reconnects politely"}
	place := func(guarantee string) int {
		if i := slices.Index(order, guarantee); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(guarantees, func(a, b string) int { return cmp.Or(place(a)-place(b), cmp.Compare(a, b)) })
	return slices.Compact(guarantees)
}

// Guarantees returns those that some lock promises.
func (p *page) Guarantees() (all []string) {
	for _, r := range p.Rows {
		all = slices.AppendSeq(all, maps.Keys(r.Cells))
	}
	return sorted(all)
}

// Kept returns the guarantees that some lock promises, and none violated.
func (p *page) Kept() []string {
	violated := p.Groups("*").Violated()
	return slices.DeleteFunc(p.Guarantees(), func(g string) bool { return slices.Contains(violated, g) })
}

// Libraries says how many of the locks of each library that have runs violated a guarantee.
func (p *page) Libraries() (all []string) {
	violated, ran := 0, 0
	for i, r := range p.Rows {
		violated, ran = violated+min(1, len(r.Groups)), ran+min(1, r.Runs)
		library, _, _ := strings.Cut(r.ID, "/")
		if i+1 < len(p.Rows) && strings.HasPrefix(p.Rows[i+1].ID, library+"/") {
			continue
		}
		if ran > 0 {
			all = append(all, fmt.Sprintf("%d of %d of %s", violated, ran, library))
		}
		violated, ran = 0, 0
	}
	return all
}

// finding is an explanation with the violations that it explains.
type finding struct {
	*Explanation
	Groups groups
}

// Findings returns the explanations of violations.
func (p *page) Findings() (all []finding) {
	for i := range p.Field.Explanations {
		e := &p.Field.Explanations[i]
		if groups := p.Groups(e.ID); len(groups) > 0 {
			all = append(all, finding{e, groups})
		}
	}
	return all
}

// Groups returns the groups with a cause, or all for "*". Those without a known cause, "", are no
// evidence against a lock.
func (p *page) Groups(cause string) (all groups) {
	for _, r := range p.Rows {
		for _, g := range r.Groups {
			if g.Cause == cause || cause == "*" {
				g.Lock = r.ID
				all = append(all, g)
			}
		}
	}
	return all
}

// Violated returns the guarantees that were violated.
func (all groups) Violated() (guarantees []string) {
	for _, g := range all {
		guarantees = slices.AppendSeq(guarantees, maps.Keys(g.Cells))
	}
	return sorted(guarantees)
}

// Violated returns the guarantees that were violated.
func (g group) Violated() []string { return groups{g}.Violated() }

// Shortest returns the group with the shortest history.
func (all groups) Shortest() group {
	return slices.MinFunc(all, func(a, b group) int { return a.Verdict.Events - b.Verdict.Events })
}

// counts writes the page as JSON, with a line for each lock and each group.
func (p *page) counts(w io.Writer) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = w.Write(append(bytes.ReplaceAll(data, []byte(`},{"`), []byte("},\n{\"")), '\n'))
	return err
}

//go:embed field.md.tmpl
var markdownText string

var markdownTemplate = text.Must(text.New("field.md").Funcs(words.MarkdownFuncs()).Parse(markdownText))

// markdown writes the tables and the findings as Markdown.
func (p *page) markdown(w io.Writer) error { return words.WriteMarkdown(w, markdownTemplate, p) }

//go:embed field.html.tmpl
var htmlText string

var htmlTemplate = template.Must(template.New("field.html").Funcs(template.FuncMap{
	"class": class,
	"join":  strings.Join,
	"count": words.Count[int],
}).Parse(htmlText))

// html writes the tables and the findings as one HTML page that needs no other file.
func (p *page) html(w io.Writer) error {
	style, policy, err := report.Stylesheet()
	if err != nil {
		return err
	}
	return htmlTemplate.Execute(words.Page(w), map[string]any{"Page": p, "Style": template.CSS(style), "Policy": policy})
}

// class returns the CSS class of a sign.
func class(sign string) string {
	switch {
	case sign == "?" || strings.HasSuffix(sign, unexplained):
		return "open"
	case strings.HasPrefix(sign, "✓"):
		return "holds"
	}
	return "violated"
}
