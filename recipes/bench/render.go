package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// heads holds the titles of the table's columns.
var heads = []string{"case", "peer", "median", "least – most", "ours ÷ peer", "target", "a cycle: time", "requests", "bytes", "allocations"}

// least holds the least widths of the columns. The figures are not known when the first row
// is written.
var least = []int{0, 0, 8, 19, 11, 14, 13, 8, 8, 11}

// table is written row by row, in Markdown that is readable as text.
type table struct {
	out    io.Writer
	widths []int
	err    error
}

// newTable writes the head of a table. titles and peers are the cells of its first two
// columns.
func newTable(out io.Writer, titles, peers []string) *table {
	t := &table{out: out, widths: slices.Clone(least)}
	for i, cells := range [][]string{titles, peers} {
		for _, cell := range cells {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(heads))
	for i, head := range heads {
		t.widths[i] = max(t.widths[i], utf8.RuneCountInString(head))
		rule[i] = strings.Repeat("-", t.widths[i])
		if i >= 2 {
			rule[i] = rule[i][1:] + ":" // figures to the right
		}
	}
	t.row(heads)
	t.row(rule)
	return t
}

// add writes the rows of a measure.
func (t *table) add(m *measure) {
	for _, row := range m.rows() {
		t.row(row)
	}
}

func (t *table) row(row []string) {
	var text strings.Builder
	for i, cell := range row {
		pad := strings.Repeat(" ", max(0, t.widths[i]-utf8.RuneCountInString(cell)))
		if i >= 2 {
			cell = pad + cell
		} else {
			cell += pad
		}
		text.WriteString("| " + cell + " ")
	}
	text.WriteString("|\n")
	if t.err == nil {
		_, t.err = io.WriteString(t.out, text.String())
	}
}

// rows returns the rows of a measure: one for each peer that has a figure.
func (m *measure) rows() [][]string {
	var rows [][]string
	title := m.Title
	for _, peer := range m.Peers {
		figures := m.Samples[peer]
		if len(figures) == 0 {
			continue
		}
		row := []string{title, peer, m.Unit.show(median(figures)), "", "", ""}
		title = ""
		if len(figures) > 1 {
			row[3] = m.Unit.show(slices.Min(figures)) + " – " + m.Unit.show(slices.Max(figures))
		} else {
			row[3] = "1 run"
		}
		if peer != m.subject() {
			row[4] = ratio(m.ratio(peer))
		}
		for _, b := range m.Bounds {
			if b.Against == peer {
				row[5] = "≤ " + ratio(b.Limit) + " " + string(m.judge(b))
			} else if b.Against == "" && peer == m.subject() {
				row[5] = "≤ " + m.Unit.show(b.Limit) + " " + string(m.judge(b))
			}
		}
		per := m.Per[peer]
		rows = append(rows, append(row, shown(duration, per.Nanoseconds), shown(count, per.Requests), shown(size, per.Bytes), shown(count, per.Mallocs)))
	}
	return rows
}

// shown returns a figure as text, or "" when it is not known.
func shown(u unit, figure float64) string {
	if figure == 0 {
		return ""
	}
	return u.show(figure)
}

func ratio(r float64) string {
	switch {
	case math.IsNaN(r):
		return ""
	case r == 0:
		return "0"
	case r < 0.1:
		return fmt.Sprintf("%.3f", r)
	}
	return fmt.Sprintf("%.2f", r)
}

// show returns a figure with about three digits.
func (u unit) show(figure float64) string {
	switch u {
	case duration:
		switch {
		case figure >= 1e7:
			return fmt.Sprintf("%.0f ms", figure/1e6)
		case figure >= 1e6:
			return fmt.Sprintf("%.2f ms", figure/1e6)
		}
		return fmt.Sprintf("%.0f µs", figure/1e3)
	case size:
		if figure >= 1e4 {
			return fmt.Sprintf("%.1f kB", figure/1e3)
		}
		return fmt.Sprintf("%.0f B", figure)
	}
	if figure >= 100 || figure == math.Trunc(figure) {
		return fmt.Sprintf("%.0f", figure)
	}
	return fmt.Sprintf("%.2f", figure)
}
