package selftest

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/zkverify/zkverify/internal/words"
)

// between separates two columns.
const between = "  "

// widths returns the widths of the columns of rows.
func widths(rows [][]string) []int {
	var all []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(all) {
				all = append(all, 0)
			}
			all[i] = max(all[i], utf8.RuneCountInString(cell))
		}
	}
	return all
}

// sum returns the width of all columns together.
func sum(columns []int) int {
	all := -len(between)
	for _, n := range columns {
		all += n + len(between)
	}
	return all
}

// leastColumn is the least width of a column.
const leastColumn = 12

// narrow makes the given columns narrower, the widest first, until all of them take
// no more than width.
func narrow(columns []int, width int, which ...int) {
	for sum(columns) > width {
		widest := which[0]
		for _, i := range which {
			if columns[i] > columns[widest] {
				widest = i
			}
		}
		if columns[widest] <= leastColumn {
			return
		}
		columns[widest]--
	}
}

// writeRow writes a row. Text that is too long for its column continues on the lines below.
func writeRow(w io.Writer, row []string, columns []int) error {
	cells, height := make([][]string, len(row)), 1
	for i, cell := range row {
		cells[i] = words.Wrap(cell, columns[i])
		height = max(height, len(cells[i]))
	}
	for line := range height {
		var b strings.Builder
		for i := range cells {
			part := ""
			if line < len(cells[i]) {
				part = cells[i][line]
			}
			b.WriteString(part + strings.Repeat(" ", max(0, columns[i]-utf8.RuneCountInString(part))) + between)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
