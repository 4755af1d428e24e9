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
		{
			// The leader has not asked the follower in between, since it stood still.
			Name: "deaf-leader",
			What: "the leader stands still, while a holder asks its follower and then writes; then what the follower says is lost, and the holder is cut off",
			Config: workload.Config{
				Clients: 9, Locks: 3, Duration: 64 * time.Second, Mix: stubborn(),
				Schedule: withAll(several("deaf-leader", fault.AtHolder, 10, 400*time.Millisecond, 6*time.Second, 5*time.Second), map[string]string{
					"at": "follower", "stop": "pause", "stopped": "400ms", "from": "answer", "ask": "read-write",
					"until": "time", "lost": "to-leader", "answers": "0",
				}),
			},
			Mutants: []string{"mutant-clocked-follower"},
		},
	}
}
