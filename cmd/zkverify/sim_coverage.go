package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/folder"
	"github.com/zkverify/zkverify/workload/simulation"
)

// tellCoverage writes the coverage of the faults over all runs of the sweep, and prints which
// combinations did not occur.
func (s *simCmd) tellCoverage(con *console, dir string, sweep *simulation.Sweep, spec simulation.Spec) error {
	var asked []simulation.Spec
	for _, plan := range s.plans() {
		spec.Plan = plan
		asked = append(asked, spec)
	}
	all, searched := sweep.Coverage(asked), sweep.Searched(spec.Processes)
	err := folder.WriteFile(filepath.Join(dir, simulation.CoverageFile), func(w io.Writer) error { return simulation.WriteCoverage(w, all, searched, sweep.Paths()) })
	if err != nil || s.JSON {
		return err
	}
	for _, p := range all {
		empty, of := p.Unmet()
		if of == 0 || p.Runs == 0 { // no faults, or interrupted before
			continue
		}
		text := fmt.Sprintf("coverage of plan %s, %s: %d of %d combinations of fault, recipe and state did not occur", p.Plan, words.Count(p.Runs, "run"), len(empty), of)
		if p.Without > 0 {
			text += fmt.Sprintf(" (%s without coverage)", words.Count(p.Without, "run"))
		}
		if len(empty) > 0 {
			text += ": " + report.Unmet(&p.CoverageSum)
		}
		con.tell("%s", text)
		if s.Verbose {
			if err := report.CoverageTable(con.out, &p.CoverageSum, con.style(true)); err != nil {
				return err
			}
		}
	}
	for _, of := range searched {
		con.tell("searched by plan edges: %v", of)
	}
	if paths := sweep.Paths(); paths.Tried.Tried > 0 {
		con.tell("plan spec: %v", paths)
		if s.Verbose && len(paths.Left) > 0 {
			con.tell("not carried out: %s", strings.Join(paths.Left, ", "))
		}
	}
	return s.tellSituations(con, all)
}

// tellSituations prints the situations that no run of the sweep has reached.
func (s *simCmd) tellSituations(con *console, all []*simulation.PlanCoverage) error {
	var sum checker.CoverageSum
	for _, p := range all {
		if p.Runs > p.Without {
			sum.Situations.Add(p.Situations)
		}
	}
	if told := report.Missed(sum.Situations); told != "" {
		con.tell("%s", told)
	}
	if s.Verbose {
		return report.SituationTable(con.out, sum.Situations)
	}
	return nil
}
