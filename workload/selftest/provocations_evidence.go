package selftest

import (
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

// evidenceProvocations are of what a client takes for evidence that its session lives.
func evidenceProvocations() []Provocation {
	return []Provocation{
		{
			// What a client has heard of its server, its server has not told the leader yet.
			// One strike in ten shows it.
			Name: "slow-follower",
			What: "the links between the follower that a holder is linked to and its peers are slow, and then down",
			Config: workload.Config{
				Clients: 12, Locks: 6, Duration: 63 * time.Second, Mix: stubborn(),
				Schedule: several("slow-holder-follower", fault.AtHolder, 16, 400*time.Millisecond, 3900*time.Millisecond, 2800*time.Millisecond),
			},
			Mutants: []string{"mutant-write-proves-itself"},
		},
	}
}
