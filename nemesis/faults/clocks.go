package faults

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// driftDrawn is the greatest drawn difference between the rates of a server's clock and the
// clients' clocks: as much as the contract of a lease allows.
const driftDrawn = 0.05

// clockRateKind makes a server's clock run faster or slower than the clients' clocks. A leader
// whose clock is fast ends sessions early. In one case of two the server is the leader.
func clockRateKind() fault.Kind {
	return fault.Kind{
		Name: "clock-rate", Description: "a server's clock runs up to a twentieth faster or slower than the clients'", Needs: fault.NeedsClocks, Weight: 1, Server: true,
		Span:   fault.Timeouts(2, 3.5),
		Params: []fault.Param{fault.Rate("rate", 10)},
		Make: func(s fault.Scene) (fault.Fault, error) {
			rate := 1 + driftDrawn*(2*s.Rand.Float64()-1)
			clocks, ok := s.Ensemble().(ensemble.Clocks)
			return onClock(s, ok && clocks.HasClocks(), fault.Fault{Name: "clock-rate"}, func(f *fault.Fault) (start, stop clockChange, err error) {
				rate, err = strconv.ParseFloat(s.Set(f, "rate", fmt.Sprintf("%.4f", rate)), 64)
				start = func(ctx context.Context, id int) error { return clocks.SetClockRate(ctx, id, rate) }
				stop = func(ctx context.Context, id int) error { return clocks.SetClockRate(ctx, id, 1) }
				return start, stop, err
			})
		},
	}
}

// clockStepKind sets the wall clock of a server, as an operator or a time service does that
// corrects it, and sets it back again. Sessions are measured by another clock.
func clockStepKind() fault.Kind {
	return fault.Kind{
		Name: "clock-step", Description: "a server's wall clock is set forward or back, by up to an hour, and back again", Needs: fault.NeedsWallClocks, Weight: 1, Server: true,
		Span:   fault.Timeouts(0.5, 2),
		Params: []fault.Param{fault.Duration("step", -24*time.Hour)},
		Make: func(s fault.Scene) (fault.Fault, error) {
			step := time.Duration(s.Rand.Int64N(int64(2*time.Hour))) - time.Hour
			clocks, ok := s.Ensemble().(ensemble.WallClocks)
			return onClock(s, ok && clocks.HasWallClocks(), fault.Fault{Name: "clock-step"}, func(f *fault.Fault) (start, stop clockChange, err error) {
				step = s.SetDuration(f, "step", step.Round(time.Millisecond))
				start = func(ctx context.Context, id int) error { return clocks.StepClock(ctx, id, step) }
				stop = func(ctx context.Context, id int) error { return clocks.StepClock(ctx, id, -step) }
				return start, stop, nil
			})
		},
	}
}

// clockChange changes the clock of a server.
type clockChange func(context.Context, int) error

// onClock completes a fault of the clock of one server.
func onClock(s fault.Scene, can bool, f fault.Fault, changes func(*fault.Fault) (start, stop clockChange, err error)) (fault.Fault, error) {
	switch {
	case !can:
		return fault.Fault{}, fmt.Errorf("fault %s needs %s, which this ensemble (%s) does not give", f.Name, fault.NeedsClocks, s.Ensemble().Kind())
	case s.ClocksBusy:
		return fault.Fault{}, fmt.Errorf("%w: another fault of a server's clock is in force", fault.ErrNobody)
	}
	s.ServersBusy = false // another fault of that server does not hinder
	leader := s.Rand.IntN(2) == 0
	id, err := s.Server()
	if err != nil {
		return fault.Fault{}, err
	}
	if leader && s.Pick.Server == "" {
		id = s.Leader
	}
	start, stop, err := changes(&f)
	if err != nil {
		return fault.Fault{}, err
	}
	f.Clocks, f.Targets, f.HealWithin = []int{id}, []string{fault.ServerName(id)}, fault.HealWithin
	s.SetRole(&f, id)
	f.Start = func(ctx context.Context) error { return start(ctx, id) }
	f.Stop = func(ctx context.Context) error { return stop(ctx, id) }
	return f, nil
}
