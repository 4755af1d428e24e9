package report

import (
	"slices"
	"strconv"

	"github.com/zkverify/zkverify/checker"
)

// matrix is a table of counts. Each row is named by one or more heads, so that a
// table of more dimensions is one of more heads.
type matrix struct {
	Caption string
	Heads   []string // of the columns that name a row
	Columns []string
	Rows    []matrixRow
}

type matrixRow struct {
	Heads []string
	Cells []matrixCell
}

type matrixCell struct {
	Count int
	Level int  // 0 for none to 4 for the most, for the eye
	Never bool // there can be none
}

// coverageMatrices are fault × state of the lock at the start of the fault, and
// fault × recipe × state while it was in force.
func coverageMatrices(r *checker.Report) []matrix {
	atStart := matrix{Caption: "Processes that the start of a fault met and hit, by what they were doing", Heads: []string{"fault", "starts"}}
	for _, c := range r.Coverage {
		atStart.add(c.Met, c.Fault, strconv.Itoa(c.Starts))
	}
	during := matrix{Caption: "The same while a fault was in force, by recipe: each process and state counts once for each fault", Heads: []string{"fault", "recipe"}}
	for _, m := range r.Meetings {
		during.add(m.Met, m.Fault, string(m.Recipe))
	}
	all := []matrix{atStart, during}
	for i := range all {
		for _, s := range checker.States() {
			all[i].Columns = append(all[i].Columns, string(s))
		}
		all[i].shade()
	}
	return slices.DeleteFunc(all, func(m matrix) bool { return len(m.Rows) == 0 })
}

func (m *matrix) add(met map[checker.State]int, heads ...string) {
	row := matrixRow{Heads: heads}
	for _, s := range checker.States() {
		n, can := met[s]
		row.Cells = append(row.Cells, matrixCell{Count: n, Never: !can})
	}
	m.Rows = append(m.Rows, row)
}

// shade sets the levels.
func (m *matrix) shade() {
	most := 0
	for _, r := range m.Rows {
		for _, c := range r.Cells {
			most = max(most, c.Count)
		}
	}
	for _, r := range m.Rows {
		for i := range r.Cells {
			if c := &r.Cells[i]; c.Count > 0 {
				c.Level = 1 + min(3, 4*c.Count/(most+1))
			}
		}
	}
}

// Empty counts the cells in which nothing met.
func (m matrix) Empty() int {
	n := 0
	for _, r := range m.Rows {
		for _, c := range r.Cells {
			if c.Count == 0 && !c.Never {
				n++
			}
		}
	}
	return n
}
