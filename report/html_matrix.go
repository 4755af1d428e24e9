package report

import (
	"slices"
	"strconv"

	"github.com/zkverify/zkverify/checker"
)

// matrix is a table of counts. Each row is named by one or more heads. The columns
// may come in groups of the same columns; their heads are short then.
type matrix struct {
	Caption string
	Heads   []string // of the columns that name a row
	Groups  []string
	Columns []matrixColumn
	Rows    []matrixRow
}

type matrixColumn struct {
	Head, Title string
	First       bool // of a group
}

type matrixRow struct {
	Heads []string
	Cells []matrixCell
}

type matrixCell struct {
	Count int
	Level int  // 0 for none to 4 for the most, for the eye
	Never bool // the cell is always empty
	Title string
	First bool // of a group
}

// coverageMatrices returns two tables: fault × state of the lock at the start of the
// fault, and fault × recipe × state while the fault was in force.
func coverageMatrices(r *checker.Report) []matrix {
	atStart := matrix{Caption: "Processes that the start of a fault met and hit, by what they were doing", Heads: []string{"fault", "starts"}}
	for _, c := range r.Coverage {
		atStart.add(c.Met, c.Fault, strconv.Itoa(c.Starts))
	}
	atStart.columns(1)
	during := matrix{Caption: "The same while a fault was in force: each process and state counts once for each fault", Heads: []string{"fault"}}
	for _, m := range r.Meetings {
		if len(during.Rows) == 0 || during.Rows[len(during.Rows)-1].Heads[0] != m.Fault {
			during.add(nil, m.Fault)
		}
		if len(during.Rows) == 1 {
			during.Groups = append(during.Groups, string(m.Recipe))
		}
		during.count(m.Met, m.Fault+", "+string(m.Recipe))
	}
	if during.columns(len(during.Groups)); len(during.Groups) > 1 {
		during.Caption += " (i: idle, e: enqueuing, w: waiting, h: holding, r: releasing)"
	}
	all := []matrix{atStart, during}
	for i := range all {
		all[i].shade()
	}
	return slices.DeleteFunc(all, func(m matrix) bool { return len(m.Rows) == 0 })
}

func (m *matrix) add(met map[checker.State]int, heads ...string) {
	m.Rows = append(m.Rows, matrixRow{Heads: heads})
	if met != nil {
		m.count(met, heads[0])
	}
}

// count adds the cells of a group to the last row.
func (m *matrix) count(met map[checker.State]int, of string) {
	row := &m.Rows[len(m.Rows)-1]
	for i, s := range checker.States() {
		n, can := met[s]
		row.Cells = append(row.Cells, matrixCell{Count: n, Never: !can, Title: of + ", " + string(s), First: i == 0})
	}
}

// columns sets the columns of the given number of groups. A single group has no head.
func (m *matrix) columns(groups int) {
	if groups == 1 {
		m.Groups = nil
	}
	for range groups {
		for i, s := range checker.States() {
			c := matrixColumn{Head: string(s), Title: string(s), First: i == 0}
			if groups > 1 {
				c.Head = letters[s]
			}
			m.Columns = append(m.Columns, c)
		}
	}
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

// Empty counts the combinations that did not occur.
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
