package simulated

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

var (
	_ ensemble.Clocks     = (*Ensemble)(nil)
	_ ensemble.WallClocks = (*Ensemble)(nil)
)

// HasClocks reports whether the servers are in memory, and so may run in virtual time.
func (e *Ensemble) HasClocks() bool { return e != nil && e.memory != nil }

// SetClockRate sets the rate of a server's clock, as a multiple of the clients' rate. It
// returns an error if the ensemble has no clocks, or the rate is not more than 0.
func (e *Ensemble) SetClockRate(_ context.Context, id int, rate float64) error {
	return e.change(fmt.Sprintf("clock rate %v:", rate), id, func(s *server) error {
		if !e.HasClocks() || !(rate > 0) {
			return errNoClocks
		}
		e.live.Cluster.SetClockRate(s.myid, rate)
		return nil
	})
}

// HasWallClocks reports the same as HasClocks.
func (e *Ensemble) HasWallClocks() bool { return e.HasClocks() }

// StepClock sets a server's wall clock forward, or back if d is negative.
func (e *Ensemble) StepClock(_ context.Context, id int, d time.Duration) error {
	return e.change(fmt.Sprintf("wall clock stepped by %v:", d), id, func(s *server) error {
		if !e.HasClocks() {
			return errNoClocks
		}
		e.live.Cluster.StepClock(s.myid, d)
		return nil
	})
}

var errNoClocks = fmt.Errorf("servers in memory alone have clocks of their own, and their rate is more than 0")
