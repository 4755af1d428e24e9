package report

import (
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// Judged is a run and what the checker says of it.
type Judged struct {
	Header histories.Header
	Report *checker.Report
}

// comparedTable has the rows of one sort of thing.
type comparedTable struct {
	Title  string
	Rows   []comparedRow
	Counts bool // nothing of it is right or wrong
}

// comparedRow has a thing, its values in both runs, and a word if it is a violation.
type comparedRow struct {
	Name, Before, After, Change string
	paint                       verdict.Outcome // of the change
}

// Class returns the class of the change on a page.
func (r comparedRow) Class() string { return signs[r.paint].Class }

// Comparison writes two runs side by side, such as those before and after a fix: the verdict on
// each guarantee that either run promises, and whether a violation is new, still there or gone; the
// causes of violations; how often each fault began; and the figures of the runs. A violation is
// gone only if the guarantee holds.
func Comparison(w io.Writer, before, after Judged, style Style) error {
	p := &printer{w: style.door(w), style: style}
	p.wrapped("before: ", "  ", describe(&before.Header, before.Report, true))
	p.wrapped("after: ", "  ", describe(&after.Header, after.Report, true))
	for _, t := range comparedTables(before.Report, after.Report) {
		p.compared(t)
	}
	return p.err
}

var compareTemplate = template.Must(template.ParseFS(files, "page/compare.tmpl"))

// ComparisonPage writes what Comparison does as one page, and below it the pages of both runs side by
// side. Pages are their addresses, relative to the new one; "" for a run that has none.
func ComparisonPage(w io.Writer, before, after Judged, pages [2]string) error {
	css, policy, err := Stylesheet()
	if err != nil {
		return err
	}
	type run struct{ When, What, Page string }
	return compareTemplate.Execute(words.Page(w), map[string]any{
		"Style": template.CSS(css), "Policy": policy + "; frame-src 'self' file:",
		"Tables": comparedTables(before.Report, after.Report),
		"Runs": []run{
			{"before", describe(&before.Header, before.Report, true), pages[0]},
			{"after", describe(&after.Header, after.Report, true), pages[1]},
		},
	})
}

// comparedTables returns the tables of a comparison that have rows.
func comparedTables(before, after *checker.Report) []comparedTable {
	return slices.DeleteFunc([]comparedTable{
		{"guarantee", comparedVerdicts(before, after), false},
		{"cause", comparedCauses(before, after), false},
		{"fault", comparedCounts(faultsIn(before), faultsIn(after), "0"), true},
		{"figure", comparedCounts(figuresIn(before), figuresIn(after), "–"), true},
	}, func(t comparedTable) bool { return len(t.Rows) == 0 })
}

// comparedCauses returns a row for each cause of violations.
func comparedCauses(before, after *checker.Report) []comparedRow {
	rows := comparedCounts(causesIn(before), causesIn(after), "0")
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Before == "0":
			r.Change, r.paint = "new", verdict.Violated
		case r.After == "0":
			r.Change, r.paint = "not seen", verdict.Unknown
		default:
			r.Change, r.paint = "still", verdict.Violated
		}
	}
	return rows
}

// comparedVerdicts returns a row for each guarantee that one of the runs has judged.
func comparedVerdicts(before, after *checker.Report) (rows []comparedRow) {
	for _, r := range []*checker.Report{after, before} {
		for _, v := range r.Verdicts {
			if v.Outcome == verdict.NotPromised || slices.ContainsFunc(rows, func(c comparedRow) bool { return c.Name == v.Guarantee }) {
				continue
			}
			old, now := before.Verdict(v.Guarantee), after.Verdict(v.Guarantee)
			row := comparedRow{Name: v.Guarantee, Before: judgedAs(old), After: judgedAs(now)}
			was, is := old != nil && old.Outcome == verdict.Violated, now != nil && now.Outcome == verdict.Violated
			switch {
			case was && is:
				row.Change, row.paint = "still", verdict.Violated
			case is:
				row.Change, row.paint = "new", verdict.Violated
			case was && now != nil && now.Outcome == verdict.Holds:
				row.Change, row.paint = "gone", verdict.Holds
			case was:
				row.Change, row.paint = "not decided", verdict.Unknown
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// judgedAs returns the outcome of a verdict, with the number of violations.
func judgedAs(v *verdict.Verdict) string {
	switch {
	case v == nil:
		return "–"
	case v.Outcome == verdict.Violated:
		return "violated " + words.Times(v.Violations)
	}
	return string(v.Outcome)
}

// named is a value with its name.
type named struct{ name, value string }

func causesIn(r *checker.Report) (list []named) {
	var all []verdict.Cause
	for _, v := range r.Verdicts {
		for _, c := range v.Causes {
			if i := slices.IndexFunc(all, func(o verdict.Cause) bool { return o.What == c.What }); i >= 0 {
				all[i].Count += c.Count
			} else {
				all = append(all, c)
			}
		}
	}
	for _, c := range all {
		list = append(list, named{c.What, strconv.Itoa(c.Count)})
	}
	return list
}

func faultsIn(r *checker.Report) (list []named) {
	for _, row := range r.Coverage {
		list = append(list, named{row.Fault, strconv.Itoa(row.Starts)})
	}
	return list
}

func figuresIn(r *checker.Report) (list []named) {
	for _, f := range r.Figures {
		list = append(list, named{f.Name, strings.TrimPrefix(f.String(), f.Name+": ")})
	}
	return list
}

// comparedCounts returns a row for each name; none stands where a run lacks it.
func comparedCounts(before, after []named, none string) (rows []comparedRow) {
	for i, list := range [][]named{before, after} {
		for _, n := range list {
			at := slices.IndexFunc(rows, func(r comparedRow) bool { return r.Name == n.name })
			if at < 0 {
				at = len(rows)
				rows = append(rows, comparedRow{Name: n.name, Before: none, After: none})
			}
			*[]*string{&rows[at].Before, &rows[at].After}[i] = n.value
		}
	}
	return rows
}

// compared prints a table. Where its columns do not fit, the values are below their names.
func (p *printer) compared(t comparedTable) {
	rows := slices.Insert(t.Rows, 0, comparedRow{Name: t.Title, Before: "before", After: "after"})
	var name, before, after int
	for _, r := range rows {
		name = max(name, utf8.RuneCountInString(r.Name)+2)
		before, after = max(before, utf8.RuneCountInString(r.Before)+2), max(after, utf8.RuneCountInString(r.After)+2)
	}
	p.printf("\n")
	for _, r := range rows {
		first := words.Line(r.Name) + pad(r.Name, name)
		if p.style.Width > 0 && name+before+after+len("not decided") > p.style.Width {
			p.wrapped("", "  ", r.Name)
			first = "  "
		}
		last := r.After
		if r.Change != "" {
			last += pad(r.After, after) + p.paint(r.paint, r.Change)
		}
		p.printf("%s%s%s\n", first, r.Before+pad(r.Before, before), last)
	}
}
