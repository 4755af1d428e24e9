package report

import (
	"strings"

	"github.com/zkverify/zkverify/checker"
)

// letters stand for the states in the table.
var letters = map[checker.State]string{
	checker.Idle: "i", checker.Enqueuing: "e", checker.Waiting: "w", checker.Holding: "h", checker.Releasing: "r",
}

// meetings prints the faults by recipe: a letter for each state that was met while
// a fault was in force, a dot for one that never was.
func (p *printer) meetings(rows []checker.Meetings) {
	if len(rows) == 0 {
		return
	}
	p.printf("\nstates that faults have met: idle, enqueuing, waiting, holding, releasing; a dot for one never met\n%-24s", "")
	for _, row := range rows {
		if row.Fault == rows[0].Fault {
			p.printf(" %-*s", width(row), row.Recipe)
		}
	}
	for i, row := range rows {
		if i == 0 || row.Fault != rows[i-1].Fault {
			p.printf("\n%-24s", row.Fault)
		}
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
		p.printf(" %-*s", width(row), cell.String())
	}
	p.printf("\n")
}

// width is that of a column.
func width(row checker.Meetings) int { return max(len(row.Recipe), len(checker.States())) }
