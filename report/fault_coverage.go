package report

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// CoverageTable writes the table of the states that the faults of several runs have met.
func CoverageTable(w io.Writer, sum *checker.CoverageSum, style Style) error {
	p := &printer{w: style.door(w), style: style}
	p.meetings(sum.Meetings, sum.Coverage)
	return p.err
}

// The greatest numbers of faults, and of recipes for each fault, that Unmet names.
const (
	namedFaults  = 6
	namedRecipes = 3
)

// Unmet lists the combinations that did not occur, by fault: those of a few recipes, or the number
// of their recipes.
func Unmet(sum *checker.CoverageSum) string {
	var parts []string
	empty, _ := sum.Unmet()
	faults := slices.CompactFunc(slices.Clone(empty), func(a, b checker.Unmet) bool { return a.Fault == b.Fault })
	for _, f := range faults[:min(len(faults), namedFaults)] {
		if startsOf(sum.Coverage, f.Fault) == 0 {
			parts = append(parts, f.Fault+" never began")
			continue
		}
		var recipes []string
		last := histories.Recipe("")
		for _, c := range empty {
			if c.Fault != f.Fault {
				continue
			}
			if c.Recipe != last {
				recipes, last = append(recipes, string(c.Recipe)), c.Recipe
			}
			recipes[len(recipes)-1] += " " + string(c.State)
		}
		text := f.Fault + " × " + strings.Join(recipes, ", ")
		if len(recipes) > namedRecipes {
			text = f.Fault + " × " + words.Count(len(recipes), "recipe")
		}
		parts = append(parts, text)
	}
	if more := len(faults) - len(parts); more > 0 {
		parts = append(parts, "and combinations of "+words.Count(more, "other fault"))
	}
	return strings.Join(parts, "; ")
}

// letters are the states' letters in the table.
var letters = map[checker.State]string{
	checker.Idle: "i", checker.Enqueuing: "e", checker.Waiting: "w", checker.Holding: "h", checker.Releasing: "r",
}

// meetings prints how often each fault began, and the states that it met while it was in
// force: for one recipe a count for each state, for several recipes a letter for each state
// that was met. A dot stands for a state that was never met.
func (p *printer) meetings(rows []checker.Meetings, starts checker.Coverage) {
	if len(rows) == 0 {
		return
	}
	columns, name := 0, 0
	for _, row := range rows {
		if row.Fault == rows[0].Fault {
			columns++
		}
		name = max(name, utf8.RuneCountInString(words.Line(row.Fault)))
	}
	if columns == 1 {
		p.printf("\n")
		p.wrapped("", "", "how often faults have met a process while it was")
		p.printf("%-*s %6s", name, "", "starts")
		for _, s := range checker.States() {
			p.printf(" %9s", s)
		}
		for _, row := range rows {
			p.fault(name, row.Fault, starts)
			for _, s := range checker.States() {
				p.printf(" %9s", count(row.Met, s))
			}
		}
		p.printf("\n")
		return
	}
	p.printf("\n")
	p.wrapped("", "", "states that faults have met: idle, enqueuing, waiting, holding, releasing; a dot for one never met")
	for from := 0; from < columns; {
		to, used := from, name+len(" starts")
		for to < columns && (to == from || p.style.Width == 0 || used+1+width(rows[to]) <= p.style.Width) {
			used += 1 + width(rows[to])
			to++
		}
		p.letters(rows, starts, columns, from, to, name)
		from = to
	}
}

// letters prints a part of the table: the given range of columns, which fits into the width.
func (p *printer) letters(rows []checker.Meetings, starts checker.Coverage, columns, from, to, name int) {
	p.printf("%-*s %6s", name, "", "starts")
	for _, row := range rows[from:to] {
		p.printf(" %-*s", width(row), row.Recipe)
	}
	for i := 0; i < len(rows); i += columns {
		p.fault(name, rows[i].Fault, starts)
		for _, row := range rows[i+from : i+to] {
			p.printf(" %-*s", width(row), met(row))
		}
	}
	p.printf("\n")
}

// fault begins the line of a fault. Its name is padded to the given number of columns.
func (p *printer) fault(columns int, name string, starts checker.Coverage) {
	p.printf("\n%-*s %6d", columns, words.Line(name), startsOf(starts, name))
}

func startsOf(rows checker.Coverage, fault string) int {
	for _, row := range rows {
		if row.Fault == fault {
			return row.Starts
		}
	}
	return 0
}

// count returns the number of times that a state was met, or "" if no process can be in it.
func count(all map[checker.State]int, s checker.State) string {
	switch n, can := all[s]; {
	case !can:
		return ""
	case n == 0:
		return "."
	default:
		return strconv.Itoa(n)
	}
}

// met returns a letter for each state that was met.
func met(row checker.Meetings) string {
	var cell strings.Builder
	for _, s := range checker.States() {
		switch n, can := row.Met[s]; {
		case !can:
			cell.WriteString(" ")
		case n == 0:
			cell.WriteString(".")
		default:
			cell.WriteString(letters[s])
		}
	}
	return cell.String()
}

// width returns the width of a column.
func width(row checker.Meetings) int { return max(len(row.Recipe), len(checker.States())) }
