package selftest

import (
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
)

// evidenceProvocations test a client's evidence that its session lives.
func evidenceProvocations() []Provocation {
	return []Provocation{
		{
			// The client has heard from its server, and its server has not told the leader yet.
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
			// Answers come late, and each is followed at once by a write: when the follower
			// passes the write on, it has not told the leader of the request that was answered.
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
		{
			// One strike in twenty shows it: the leader has to go on with its answers before it
			// pings, and to have heard of the holder's session long before.
			Name:    "answers-first",
			What:    "a leader whose clock is fast stands still until a holder's request comes, answers it before it pings, and hears the follower no more",
			Config:  doubted(96, map[string]string{"at": "follower", "stop": "pause", "stopped": "50ms", "from": "quiet", "ask": "nothing", "until": "request", "lost": "to-leader", "answers": "2"}),
			Mutants: []string{"mutant-three-answers"},
		},
		{
			Name:    "answers-in-a-row",
			What:    "a leader whose clock is fast hears a holder's follower no more, just when it has answered several of the holder's requests",
			Config:  doubted(16, map[string]string{"at": "follower", "stop": "none", "stopped": "100ms", "from": "quiet", "ask": "nothing", "until": "request", "lost": "to-leader", "answers": "5"}),
			Mutants: []string{"mutant-short-gap"},
		},
		{
			Name:    "deposed-leader",
			What:    "the leader stands still until another one leads; when it goes on it answers a holder, who is then cut off",
			Config:  doubted(16, map[string]string{"at": "leader", "stop": "pause", "stopped": "800ms", "from": "quiet", "ask": "sync", "until": "time", "lost": "connections", "answers": "5"}),
			Mutants: []string{"mutant-unwritten-chain"},
		},
		{
			Name:    "deposed-reconnect",
			What:    "as deposed-leader, but when the leader goes on the holder reconnects to it",
			Config:  doubted(16, map[string]string{"at": "leader", "stop": "pause", "stopped": "1400ms", "from": "quiet", "ask": "reconnect", "until": "time", "lost": "connections", "answers": "0"}),
			Mutants: []string{"mutant-eager-reconnect"},
		},
	}
}

// doubted returns a run that puts a rule of evidence through n faults deaf-leader with these
// parameters, and a clock of the leader that is as fast as the rule allows: an error in a rule
// amounts to half a tick, which the margin may hide.
func doubted(n int, params map[string]string) workload.Config {
	const every = 7 * time.Second
	whole := time.Duration(n) * every
	strikes := withAll(several("deaf-leader", fault.AtHolder, n, 400*time.Millisecond, every, 5*time.Second), params)
	fast := with(several("clock-rate", "", 1, 0, 0, whole), "rate", "1.05")
	fast.Steps[0].Pick.Server = fault.TheLeader
	return workload.Config{
		Clients: 9, Locks: 3, Duration: whole + 2*time.Second, SessionTimeout: 2 * time.Second, Mix: doubters(),
		Schedule: steps(fast, strikes),
	}
}

// doubters are clients of which one holds each lock for long, and others wait for it.
func doubters() cycle.Mix {
	mix := stubborn()
	mix.Hold, mix.Rest = 300*time.Millisecond, 100*time.Millisecond
	return mix
}
