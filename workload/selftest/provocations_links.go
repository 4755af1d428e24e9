package selftest

import (
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

// linkProvocations cut links between clients and servers while requests are under way,
// and between servers.
func linkProvocations() []Provocation {
	tries := stubborn()
	tries.Hold, tries.Try = 5*time.Millisecond, 1
	cutOff := stubborn()
	cutOff.Hold, cutOff.HoldOn = 400*time.Millisecond, -1
	return []Provocation{
		{
			Name: "no-quorum",
			What: "the servers run without a quorum for a while",
			Config: workload.Config{
				Clients: 4, Locks: 2, Duration: 4 * time.Second, Mix: stubborn(),
				Schedule: several("cut-quorum", fault.AtAnyone, 1, 800*time.Millisecond, 0, 1200*time.Millisecond),
			},
			Mutants: []string{"mutant-hasty-reconnect"},
		},
		{
			// syncLimit × tickTime is longer than the session timeout: a follower goes on
			// answering when the leader has expired the session.
			Name: "holder-follower",
			What: "the follower that a holder is linked to is cut off from its peers",
			Config: workload.Config{
				Clients: 8, Locks: 3, Duration: 9 * time.Second, Mix: stubborn(),
				Schedule: aimed("isolate-holder-follower", fault.AtHolder, 2, 4500*time.Millisecond, 2*time.Second),
			},
			Mutants: []string{"mutant-read-heartbeat"},
		},
		{
			// The session lives on, at another server. A session that a client gives up instead
			// ends a second later: with holds this long, and three others ahead, the client may
			// well hold the lock then.
			Name: "half-open",
			What: "replies to creates are lost, replies to and requests of releases too",
			Config: workload.Config{
				Clients: 16, Locks: 4, Duration: 9 * time.Second, Mix: cutOff,
				Schedule: oneLink(700*time.Millisecond, 150*time.Millisecond, 56,
					strike{"replies-lost", fault.AtEnqueuing}, strike{"replies-lost", fault.AtEnqueuing},
					strike{"replies-lost", fault.AtEnqueuing}, strike{"replies-lost", fault.AtHolder},
					strike{"replies-lost", fault.AtEnqueuing}, strike{"replies-lost", fault.AtEnqueuing},
					strike{"replies-lost", fault.AtEnqueuing}, strike{"requests-lost", fault.AtHolder}),
			},
			Mutants: []string{"mutant-second-node", "mutant-adopted-node", "mutant-stale-ownership", "mutant-forgotten-node", "mutant-token-after-lost-reply"},
		},
		{
			// The delete of a failed try is sent as soon as its place is known, so the link is
			// cut before. A node that is left behind goes when its client closes, as some do:
			// the last strikes come just before the recovery.
			Name: "half-open-tries",
			What: "no client waits, all try; requests are lost",
			Config: workload.Config{
				Clients: 4, Locks: 1, Duration: 5 * time.Second, Mix: tries,
				Schedule: oneLink(500*time.Millisecond, 250*time.Millisecond, 19, strike{"requests-lost", fault.AtEnqueuing}),
			},
			Mutants: []string{"mutant-swallowed-clean-up"},
		},
	}
}
