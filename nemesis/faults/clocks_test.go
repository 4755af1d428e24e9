package faults

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// clocked is an ensemble that notes the changes of its clocks.
type clocked struct {
	*simulated.Ensemble
	rates map[int]float64
	steps map[int]time.Duration
}

func (c *clocked) HasClocks() bool { return true }

func (c *clocked) SetClockRate(ctx context.Context, id int, rate float64) error {
	c.rates[id] = rate
	return c.Ensemble.SetClockRate(ctx, id, rate)
}

func (c *clocked) StepClock(ctx context.Context, id int, d time.Duration) error {
	c.steps[id] += d
	return c.Ensemble.StepClock(ctx, id, d)
}

type clockWorld struct{ e ensemble.Ensemble }

func (w clockWorld) Ensemble() ensemble.Ensemble   { return w.e }
func (w clockWorld) SessionTimeout() time.Duration { return 2 * time.Second }
func (w clockWorld) Clients() []fault.Client       { return nil }

func inMemory(t *testing.T) *clocked {
	t.Helper()
	e, err := simulated.InMemory(ensemble.LocalConfig{}, simulated.Memory{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return &clocked{e, map[int]float64{}, map[int]time.Duration{}}
}

func TestFaultsOfClocksChangeAClockAndPutItRight(t *testing.T) {
	e := inMemory(t)
	for draw := range uint32(40) {
		for _, kind := range []fault.Kind{clockRateKind(), clockStepKind()} {
			s := fault.NewScene(clockWorld{e}, kind.Name, fault.Pick{Draw: draw}, nil, true)
			s.Leader, s.ServersBusy = 2, true // such a fault does not hinder
			f, err := kind.Make(s)
			if err != nil {
				t.Fatal(err)
			}
			id := f.Clocks[0]
			if err := f.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if kind.Name == "clock-rate" && (e.rates[id] == 1 || e.rates[id] < 0.95 || e.rates[id] > 1.05) {
				t.Errorf("rate %v", e.rates[id])
			}
			if kind.Name == "clock-step" && (e.steps[id] == 0 || e.steps[id].Abs() > time.Hour) {
				t.Errorf("a step of %v", e.steps[id])
			}
			if err := f.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if e.steps[id] != 0 || kind.Name == "clock-rate" && e.rates[id] != 1 {
				t.Errorf("draw %d: the clock of server %d is left at rate %v, %v off", draw, id, e.rates[id], e.steps[id])
			}
		}
	}
}

func TestOneFaultOfClocksIsInForceAtATime(t *testing.T) {
	s := fault.NewScene(clockWorld{inMemory(t)}, "clock-rate", fault.Pick{}, nil, true)
	s.Leader, s.ClocksBusy = 1, true
	if _, err := clockRateKind().Make(s); !errors.Is(err, fault.ErrNobody) {
		t.Errorf("%v", err)
	}
}

func TestServersWithoutClocksOfTheirOwnRefuse(t *testing.T) {
	overTCP, err := simulated.Start(t.Context(), ensemble.LocalConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer overTCP.Close()
	for name, e := range map[string]ensemble.Ensemble{"in real time": overTCP, "local, without Byteman": &ensemble.Local{}} {
		if fault.NeedsClocks.MetBy(e) {
			t.Errorf("%s: they have", name)
		}
	}
	if !fault.NeedsClocks.MetBy(inMemory(t)) {
		t.Error("in memory: they have not")
	}
	if err := overTCP.SetClockRate(t.Context(), 1, 1.5); err == nil {
		t.Error("a clock follows another rate than real time")
	}
	if err := inMemory(t).SetClockRate(t.Context(), 1, 0); err == nil {
		t.Error("a clock stands")
	}
}
