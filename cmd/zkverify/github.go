package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/zkverify/zkverify/report"
)

// annotate writes a workflow command about a run that did not pass, if a GitHub workflow runs
// this program. It writes behind the door, which would not let a command pass.
func (con *console) annotate(r *report.NightResult) {
	if os.Getenv("GITHUB_ACTIONS") == "true" && !r.Passed() {
		fmt.Fprintln(screen(con.out), r.Annotation())
	}
}

// stepSummary appends the night to the summary of the step, if a GitHub workflow runs this
// program.
func stepSummary(night *report.Night, dir string) (err error) {
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(night.Markdown(dir) + "\n")
	return err
}
