package report

import (
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

// comparedRow has a thing, its values in both runs, and a word if it is a violation.
type comparedRow struct {
	name, before, after, change string
	paint                       verdict.Outcome // of the change
}

// Comparison writes two runs side by side, such as those before and after a fix: the verdict on
// each guarantee that either run promises, and whether a violation is new, still there or gone; the
// causes of violations; how often each fault began; and the figures of the runs. A violation is
// gone only if the guarantee holds.
func Comparison(w io.Writer, before, after Judged, style Style) error {
	p := &printer{w: style.door(w), style: style}
	p.wrapped("before: ", "  ", describe(&before.Header, before.Report, true))
	p.wrapped("after: ", "  ", describe(&after.Header, after.Report, true))
	p.compared("guarantee", comparedVerdicts(before.Report, after.Report))
	rows := comparedCounts(causesIn(before.Report), causesIn(after.Report), "0")
	for i := range rows {
		r := &rows[i]
		switch {
		case r.before == "0":
			r.change, r.paint = "new", verdict.Violated
		case r.after == "0":
			r.change, r.paint = "not seen", verdict.Unknown
		default:
			r.change, r.paint = "still", verdict.Violated
		}
	}
	p.compared("cause", rows)
	p.compared("fault", comparedCounts(faultsIn(before.Report), faultsIn(after.Report), "0"))
	p.compared("figure", comparedCounts(figuresIn(before.Report), figuresIn(after.Report), "–"))
	return p.err
}

// comparedVerdicts returns a row for each guarantee that one of the runs has judged.
func comparedVerdicts(before, after *checker.Report) (rows []comparedRow) {
	for _, r := range []*checker.Report{after, before} {
		for _, v := range r.Verdicts {
			if v.Outcome == verdict.NotPromised || slices.ContainsFunc(rows, func(c comparedRow) bool { return c.name == v.Guarantee }) {
				continue
			}
			old, now := before.Verdict(v.Guarantee), after.Verdict(v.Guarantee)
			row := comparedRow{name: v.Guarantee, before: judgedAs(old), after: judgedAs(now)}
			was, is := old != nil && old.Outcome == verdict.Violated, now != nil && now.Outcome == verdict.Violated
			switch {
			case was && is:
				row.change, row.paint = "still", verdict.Violated
			case is:
				row.change, row.paint = "new", verdict.Violated
			case was && now != nil && now.Outcome == verdict.Holds:
				row.change, row.paint = "gone", verdict.Holds
			case was:
				row.change, row.paint = "not decided", verdict.Unknown
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
			at := slices.IndexFunc(rows, func(r comparedRow) bool { return r.name == n.name })
			if at < 0 {
				at = len(rows)
				rows = append(rows, comparedRow{name: n.name, before: none, after: none})
			}
			*[]*string{&rows[at].before, &rows[at].after}[i] = n.value
		}
	}
	return rows
}

// compared prints a table. Where its columns do not fit, the values are below their names.
func (p *printer) compared(title string, rows []comparedRow) {
	if len(rows) == 0 {
		return
	}
	rows = slices.Insert(rows, 0, comparedRow{name: title, before: "before", after: "after"})
	var name, before, after int
	for _, r := range rows {
		name = max(name, utf8.RuneCountInString(r.name)+2)
		before, after = max(before, utf8.RuneCountInString(r.before)+2), max(after, utf8.RuneCountInString(r.after)+2)
	}
	p.printf("\n")
	for _, r := range rows {
		first := words.Line(r.name) + pad(r.name, name)
		if p.style.Width > 0 && name+before+after+len("not decided") > p.style.Width {
			p.wrapped("", "  ", r.name)
			first = "  "
		}
		last := r.after
		if r.change != "" {
			last += pad(r.after, after) + p.paint(r.paint, r.change)
		}
		p.printf("%s%s%s\n", first, r.before+pad(r.before, before), last)
	}
}
