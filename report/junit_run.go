package report

import (
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

// JUnitOf returns the junit.xml of a run that took the given time: a case for each
// recipe and guarantee of the run. The suite fails if the run fails.
func JUnitOf(header histories.Header, r *checker.Report, took time.Duration) *JUnit {
	s := &JUnit{Name: "zkverify " + header.Target, Took: took, ZooKeeper: r.ZooKeeper}
	for _, c := range CasesOf(header, r) {
		s.Cases = append(s.Cases, c.junit(header.Target))
	}
	return s
}
