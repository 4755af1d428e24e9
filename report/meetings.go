package report

import (
	"strconv"
	"strings"

	"github.com/zkverify/zkverify/checker"
)

// letters stand for the states in the table.
var letters = map[checker.State]string{
	checker.Idle: "i", checker.Enqueuing: "e", checker.Waiting: "w", checker.Holding: "h", checker.Releasing: "r",
}

// meetings prints what the faults have met while they were in force, and how often
// each was: of one recipe how often it was met in each state, of several a letter
// for each state that was. A dot stands for what was never met.
func (p *printer) meetings(rows []checker.Meetings, starts checker.Coverage) {
	if len(rows) == 0 {
		return
	}
	columns := 0
	for _, row := range rows {
		if row.Fault == rows[0].Fault {
			columns++
		}
	}
	if columns == 1 {
		p.printf("\nhow often faults have met a process while it was\n%-24s %7s", "", "starts")
		for _, s := range checker.States() {
			p.printf(" %10s", s)
		}
	} else {
		p.printf("\nstates that faults have met: idle, enqueuing, waiting, holding, releasing; a dot for one never met\n%-24s %7s", "", "starts")
		for _, row := range rows[:columns] {
			p.printf(" %-*s", width(row), row.Recipe)
		}
	}
	for i, row := range rows {
		if i%columns == 0 {
			p.printf("\n%-24s %7d", row.Fault, startsOf(starts, row.Fault))
		}
		if columns == 1 {
			for _, s := range checker.States() {
				p.printf(" %10s", count(row.Met, s))
			}
		} else {
			p.printf(" %-*s", width(row), met(row))
		}
	}
	p.printf("\n")
}

func startsOf(rows checker.Coverage, fault string) int {
	for _, row := range rows {
		if row.Fault == fault {
			return row.Starts
		}
	}
	return 0
}

// count is how often a state was met, blank where no process can be in it.
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

// met has a letter for each state that was.
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

// width is that of a column.
func width(row checker.Meetings) int { return max(len(row.Recipe), len(checker.States())) }
