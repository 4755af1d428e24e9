package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/remote"
)

func pauseProvocations() []Provocation {
	return []Provocation{
		{
			Name: "paused-holders",
			What: "clients live in processes of their own, and that of a holder is paused for longer than its session lives",
			Config: workload.Config{
				Clients: 6, Locks: 2, Duration: 10 * time.Second, Mix: slow(), Workers: remote.Config{N: 3},
				Schedule: aimed(histories.WorkerPause, fault.AtHolder, 4, 2400*time.Millisecond, 1700*time.Millisecond),
			},
			Mutants: []string{"mutant-forgives-pause"},
		},
	}
}
