package report

import (
	"strconv"

	"github.com/zkverify/zkverify/checker"
)

// matrix is a table of counts. Each row is named by one or more heads, so that a
// table of more dimensions is one of more heads.
type matrix struct {
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
	Level int // 0 for none to 4 for the most, for the eye
}

// coverageMatrix is fault × state of the lock.
func coverageMatrix(rows checker.Coverage) matrix {
	m := matrix{Heads: []string{"fault", "starts"}}
	for _, s := range checker.States() {
		m.Columns = append(m.Columns, string(s))
	}
	most := 0
	for _, r := range rows {
		for _, n := range r.Met {
			most = max(most, n)
		}
	}
	for _, r := range rows {
		row := matrixRow{Heads: []string{r.Fault, strconv.Itoa(r.Starts)}}
		for _, s := range checker.States() {
			n := r.Met[s]
			level := 0
			if n > 0 {
				level = 1 + min(3, 4*n/(most+1))
			}
			row.Cells = append(row.Cells, matrixCell{n, level})
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// Empty counts the cells in which nothing met.
func (m matrix) Empty() int {
	n := 0
	for _, r := range m.Rows {
		for _, c := range r.Cells {
			if c.Count == 0 {
				n++
			}
		}
	}
	return n
}
