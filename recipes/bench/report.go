package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// report is the report of a run. The flag -json writes it.
type report struct {
	Began    time.Time  `json:"began"`
	Versions []string   `json:"versions"`
	Reps     int        `json:"repetitions"`
	Load     []string   `json:"load"` // of the machine: before and after
	Measures []*measure `json:"measures"`
}

// begin writes the text above the table, and its head.
func (r *report) begin(stdout io.Writer, cases []string) *table {
	slices.Sort(r.Versions)
	fmt.Fprintf(stdout, "%s. Medians; repetitions: %d, the peers of a case taking turns. %s.\n\n",
		r.Began.Format("2006-01-02 15:04"), r.Reps, strings.Join(r.Versions, "; "))
	return newTable(stdout, titlesOf(cases), peerNames())
}

// end writes the text below the table, and the file.
func (r *report) end(stdout io.Writer, jsonFile string) error {
	if jsonFile != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(jsonFile, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "\nLoad of the machine before and after: %s.\n", strings.Join(r.Load, " and "))
	for _, line := range summary(r.Measures) {
		fmt.Fprintln(stdout, line)
	}
	fmt.Fprintln(stdout)
	for _, p := range aboutPeers {
		fmt.Fprintf(stdout, "  %s: %s\n", p.name, p.text)
	}
	for _, m := range r.Measures {
		if m.Notes[ours] != "" {
			return fmt.Errorf("%s: %s %s", m.Case, ours, m.Notes[ours])
		}
	}
	return nil
}

// summary returns the text below the table: how many targets are met, and which peers are
// missing where, and why.
func summary(measures []*measure) []string {
	var lines, missedOnes []string
	counts := map[verdict]int{}
	for _, m := range measures {
		for _, b := range m.Bounds {
			v := m.judge(b)
			counts[v]++
			if v == missed {
				against := ""
				if b.Against != "" {
					against = " ÷ " + b.Against
				}
				missedOnes = append(missedOnes, m.Title+": "+m.subject()+against)
			}
		}
	}
	lines = append(lines, fmt.Sprintf("Targets: %d met, %d missed, %d without a figure.", counts[met], counts[missed], counts[unknown]))
	for _, one := range missedOnes {
		lines = append(lines, "  missed: "+one)
	}
	return append(lines, reasons(measures)...)
}

// reasons returns why peers have no figure, or few: for each peer and reason one line with
// all its cases.
func reasons(measures []*measure) []string {
	var lines []string
	cases := map[string][]string{}
	for _, m := range measures {
		for _, peer := range m.Peers {
			why := m.Notes[peer]
			if why == "" {
				continue
			}
			line := peer + ": " + why
			if cases[line] == nil {
				lines = append(lines, line)
			}
			if !slices.Contains(cases[line], m.Case) {
				cases[line] = append(cases[line], m.Case)
			}
		}
	}
	for i, line := range lines {
		lines[i] = fmt.Sprintf("  %s (%s)", line, strings.Join(cases[line], ", "))
	}
	return lines
}
