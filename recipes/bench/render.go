package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// heads are the columns of the table.
var heads = []string{"case", "peer", "median", "least – most", "ours ÷ peer", "target", "a cycle: time", "requests", "bytes", "allocations"}

// render writes the table, in Markdown that can be read as it is.
func render(out io.Writer, measures []*measure) error {
	rows := [][]string{heads}
	for _, m := range measures {
		rows = append(rows, m.rows()...)
	}
	widths := make([]int, len(heads))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for n, row := range rows {
		writeRow(&text, row, widths)
		if n == 0 {
			rule := make([]string, len(heads))
			for i := range rule {
				rule[i] = strings.Repeat("-", widths[i])
				if i >= 2 {
					rule[i] = rule[i][1:] + ":" // figures to the right
				}
			}
			writeRow(&text, rule, widths)
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func writeRow(out *strings.Builder, row []string, widths []int) {
	for i, cell := range row {
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if i >= 2 {
			cell = pad + cell
		} else {
			cell += pad
		}
		out.WriteString("| " + cell + " ")
	}
	out.WriteString("|\n")
}

// rows are the lines of a measure: one for each peer that has a figure.
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

// shown is a figure, or nothing when it is not known.
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

// show writes a figure with three digits or so.
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
