package selftest

import (
	"io"
	"time"

	"github.com/zkverify/zkverify/report"
)

// JUnit writes the matrix as JUnit XML: a case for each trial.
func (m *Matrix) JUnit(w io.Writer) error {
	s := report.JUnit{Name: "zkverify selftest", Took: time.Duration(m.Took), ZooKeeper: m.ZooKeeper}
	for _, t := range m.Trials {
		c := report.JUnitCase{Class: t.Provocation, Name: t.Target + " is caught by " + t.Guarantee, Took: time.Duration(t.Took)}
		if t.Guarantee == "" {
			c.Name = t.Target + " passes"
		}
		switch {
		case t.NotRun:
			c.Skipped = t.Why
		case !t.OK:
			c.Failure, c.Detail = t.Why, t.Sentence()
		}
		s.Cases = append(s.Cases, c)
	}
	return s.Write(w)
}
