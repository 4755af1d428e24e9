package facts

import "time"

// pace counts the operations answered in each second of the run's clock in which the workload
// ran and no fault was in force throughout: it shows whether the run goes on in its healthy
// phases. Its methods are called in the order of events.
type pace struct {
	running bool // the chaos phase
	faults  int  // in force
	second  time.Duration
	ops     int
	healthy bool
	Counts  []int
}

func (p *pace) answered(at time.Duration) {
	p.reach(at)
	p.ops++
}

func (p *pace) phase(at time.Duration, chaos bool) {
	p.reach(at)
	p.running, p.healthy = chaos, false
}

func (p *pace) faulted(at time.Duration) {
	p.reach(at)
	p.faults++
	p.healthy = false
}

func (p *pace) healed(at time.Duration) {
	p.reach(at)
	p.faults--
}

// reach completes the seconds that are over at an instant.
func (p *pace) reach(at time.Duration) {
	for p.second+time.Second <= at {
		if p.healthy {
			p.Counts = append(p.Counts, p.ops)
		}
		p.second, p.ops, p.healthy = p.second+time.Second, 0, p.running && p.faults == 0
	}
}
