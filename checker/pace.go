package checker

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// pace counts the operations that are answered in each second of the run's clock in
// which, from its beginning to its end, the workload ran and no fault was in force:
// whether the run goes on in its healthy phases.
type pace struct {
	running bool // the chaos phase
	faults  int  // in force
	second  time.Duration
	ops     int
	healthy bool
	counts  []int
}

// step takes the next event in. It keeps no reference to e.
func (p *pace) step(e *histories.Event) {
	for p.second+time.Second <= e.Time {
		if p.healthy {
			p.counts = append(p.counts, p.ops)
		}
		p.second, p.ops, p.healthy = p.second+time.Second, 0, p.running && p.faults == 0
	}
	switch e.Type {
	case histories.PhaseStart:
		p.running, p.healthy = e.Phase == histories.PhaseChaos, false
	case histories.FaultStart:
		p.faults++
		p.healthy = false
	case histories.FaultStop:
		p.faults--
	case histories.OK, histories.Fail:
		p.ops++
	}
}

// figures tells of the seconds, if there was one.
func (p *pace) figures() []Figure {
	if len(p.counts) == 0 {
		return nil
	}
	slices.Sort(p.counts)
	return []Figure{
		{"seconds without a fault in force", float64(len(p.counts)), ""},
		{"operations answered in such a second, least", float64(p.counts[0]), ""},
		{"operations answered in such a second, median", float64(p.counts[len(p.counts)/2]), ""},
	}
}
