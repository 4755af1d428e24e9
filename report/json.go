package report

import (
	"encoding/json"
	"io"

	"github.com/zkverify/zkverify/checker"
)

// JSON writes the report as one JSON document: the verdict.json of a run.
func JSON(w io.Writer, r *checker.Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
