package selftest

import (
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

// sessionProvocations end the sessions of holders and waiters, or keep them from ending.
func sessionProvocations() []Provocation {
	silentTries := stubborn() // the lock is idle now and then
	silentTries.Try, silentTries.Hold, silentTries.Rest = 1, 500*time.Millisecond, 60*time.Millisecond
	writers := stubborn()
	writers.Guarded = 1
	return []Provocation{
		{
			Name: "silent-holder",
			What: "the holder's session expires in silence, and the holder holds on",
			Config: workload.Config{
				Clients: 8, Locks: 2, Duration: 7 * time.Second, Mix: slow(),
				Schedule: aimed("expire-silence", fault.AtHolder, 5, 1200*time.Millisecond, 1700*time.Millisecond),
			},
			Mutants: []string{"zk-lock", "naive", "plain", "mutant-delete-by-name", "mutant-never-told", "mutant-no-deadline", "mutant-late-loss", "mutant-hopeful-deadline", "mutant-valid-without-clock", "mutant-context-goes-on", "mutant-lost-untold"},
		},
		{
			Name: "silent-waiter",
			What: "a waiter's session expires in silence",
			Config: workload.Config{
				Clients: 8, Locks: 2, Duration: 7 * time.Second, Mix: stubborn(),
				Schedule: aimed("expire-silence", fault.AtWaiter, 5, 1200*time.Millisecond, 1700*time.Millisecond),
			},
			Mutants: []string{"mutant-no-session-check", "mutant-own-node-missing", "mutant-waits-on", "mutant-unannounced-place"},
		},
		{
			Name: "stolen-waiter",
			What: "a waiter's session is forced to expire, while another client holds the lock",
			Config: workload.Config{
				Clients: 8, Locks: 2, Duration: 4 * time.Second, Mix: slow(),
				Schedule: aimed("expire-session", fault.AtWaiter, 6, 600*time.Millisecond, 0),
			},
			Mutants: []string{"plain-lists-once"},
		},
		{
			Name: "silent-tries",
			What: "no client waits, all try; the holder's session expires in silence",
			Config: workload.Config{
				Clients: 8, Locks: 2, Duration: 9 * time.Second, Mix: silentTries,
				Schedule: aimed("expire-silence", fault.AtHolder, 8, time.Second, 1700*time.Millisecond),
			},
			Mutants: []string{"mutant-restarted-sequence"},
		},
		{
			Name: "stolen-session",
			What: "the holder's session is forced to expire, and the holder holds on",
			Config: workload.Config{
				Clients: 4, Locks: 1, Duration: 7 * time.Second, Mix: stubborn(),
				Schedule: aimed("expire-session", fault.AtHolder, 3, 2200*time.Millisecond, 0),
			},
			Mutants: []string{"mutant-silent-new-session"},
		},
		{
			Name: "late-write",
			What: "the holder's session is forced to expire between its read and its write to ZooKeeper",
			Config: workload.Config{
				Clients: 4, Locks: 1, Duration: 7 * time.Second, Mix: writers,
				Schedule: aimed("expire-session", fault.AtHolder, 6, time.Second, 0),
			},
			Mutants: []string{"mutant-unguarded-write"},
		},
	}
}
