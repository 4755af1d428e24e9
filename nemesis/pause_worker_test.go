package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

// workerWorld is a world whose clients live in worker processes.
type workerWorld struct{ *fakeWorld }

func (w workerWorld) Pause(_ context.Context, n int) error {
	w.note(fmt.Sprintf("stop worker %d", n))
	return nil
}

func (w workerWorld) Resume(n int) error { w.note(fmt.Sprintf("continue worker %d", n)); return nil }
func (w workerWorld) Kill(n int)         { w.note(fmt.Sprintf("kill worker %d", n)) }

func (w workerWorld) Start(_ context.Context, n int) error {
	w.note(fmt.Sprintf("start worker %d", n))
	return nil
}

func TestTheProcessOfAHolderIsStoppedAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workerWorld{newWorld(fault.Client{Linked: 1, Worker: 1}, fault.Client{Linked: 1, Worker: 2}, fault.Client{Linked: 1, Worker: 1}, fault.Client{Linked: 1, Worker: 2, States: []states.State{states.Holding}})}
		if _, err := Run(t.Context(), w, faults.List(), Schedule{Steps: []Step{
			{At: time.Second, For: 4 * time.Second, Fault: "pause-worker", Pick: fault.Pick{Aim: fault.AtHolder}},
			{At: 6 * time.Second, For: time.Second, Fault: "kill-worker", Pick: fault.Pick{Aim: fault.AtHolder}},
		}}, w); err != nil {
			t.Error(err)
		}
		w.expect(t,
			"1s fault-start 1 pause-worker [1 3]",
			"1s stop worker 2",
			"5s continue worker 2",
			"5s fault-stop 1 pause-worker [1 3]",
			"6s fault-start 2 kill-worker [1 3]",
			"6s kill worker 2",
			"7s start worker 2",
			"7s fault-stop 2 kill-worker [1 3]")
	})
}

func TestAProcessIsLeftAloneWhileAnotherFaultHitsOneOfItsClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workerWorld{newWorld(fault.Client{Linked: 1, Worker: 1, States: []states.State{states.Holding}}, fault.Client{Linked: 1, Worker: 1, States: []states.State{states.Waiting}}, fault.Client{Linked: 1, Worker: 2})}
		if _, err := Run(t.Context(), w, faults.List(), Schedule{Steps: []Step{
			{At: 0, For: 10 * time.Second, Fault: "down", Pick: fault.Pick{Aim: fault.AtWaiter}},
			{At: time.Second, For: time.Second, Fault: "pause-worker", Pick: fault.Pick{Aim: fault.AtHolder}},
		}}, w); err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(w.log, func(l string) bool { return strings.HasSuffix(l, "stop worker 2") }) ||
			slices.ContainsFunc(w.log, func(l string) bool { return strings.HasSuffix(l, "stop worker 1") }) {
			t.Errorf("happened: %v; want the other process stopped, which has no holder", w.log)
		}
	})
}

func TestThePauseOfAProcessEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workerWorld{newWorld(fault.Client{Linked: 1, Worker: 1})}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Run(ctx, w, faults.List(), Schedule{Steps: []Step{{For: time.Hour, Fault: "pause-worker"}}}, w); err != nil {
			t.Error(err)
		}
		if !slices.Contains(w.log, "1s continue worker 1") {
			t.Errorf("it was left stopped: %v", w.log)
		}
	})
}

func TestFaultsOfProcessesNeedClientsInProcesses(t *testing.T) {
	for _, name := range []string{"pause-worker", "kill-worker"} {
		if _, err := faults.List().Select([]string{name}, nil, false); err == nil || !strings.Contains(err.Error(), "--workers") {
			t.Errorf("%s: %v", name, err)
		}
		k, err := faults.List().Named(name)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(fault.Client{Linked: 1})
		if _, err := k.Make(fault.NewScene(w, name, fault.Pick{}, nil, false)); err == nil || errors.Is(err, fault.ErrNobody) {
			t.Errorf("%s in a world without: %v; want an error that says so", name, err)
		}
	}
	all, _ := faults.List().Select([]string{"all"}, nil, false)
	with, _ := faults.List().Select([]string{"all"}, nil, true)
	if len(with) != len(all)+2 || len(with) != len(faults.List())-1 { // failpoint
		t.Errorf("%d faults without workers, %d with", len(all), len(with))
	}
}
