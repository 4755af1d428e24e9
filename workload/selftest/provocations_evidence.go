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
			What: "a holder hears late from its server, a follower, which is then cut off from the other servers",
			Config: workload.Config{
				Clients: 12, Locks: 6, Duration: 63 * time.Second, Mix: stubborn(),
				Schedule: several("slow-holder-follower", fault.AtHolder, 16, 400*time.Millisecond, 3900*time.Millisecond, 2800*time.Millisecond),
			},
			Mutants: []string{"mutant-write-proves-itself"},
		},
		{
			// Answers come late, and each is followed at once by a write: of the request that was
			// answered the follower has not told the leader when it passes the write on.
			Name: "slow-answers",
			What: "as slow-follower, but each answer takes longer than the servers' tick",
			Config: workload.Config{
				Clients: 12, Locks: 6, Duration: 63 * time.Second, Mix: stubborn(),
				Schedule: with(several("slow-holder-follower", fault.AtHolder, 16, 400*time.Millisecond, 3900*time.Millisecond, 2800*time.Millisecond), "latency", "300ms"),
			},
			Mutants: []string{"mutant-young-touch"},
		},
	}
}
