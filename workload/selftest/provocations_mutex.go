package selftest

import (
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
)

func mutexProvocations() []Provocation {
	busy := stubborn()
	busy.Hold = 5 * time.Millisecond
	reentrant := stubborn()
	reentrant.Reenter = 1
	tries := busy
	tries.Try = 1
	lonely := stubborn() // the lock is idle now and then
	lonely.Try, lonely.Hold, lonely.Rest = 1, 50*time.Millisecond, 100*time.Millisecond
	silentTries := lonely
	silentTries.Hold, silentTries.Rest = 500*time.Millisecond, 60*time.Millisecond
	impatient := busy
	impatient.Timeout, impatient.Cancel, impatient.Patience = 0.4, 0.4, 20*time.Millisecond
	writers := stubborn()
	writers.Guarded = 1
	cutOff := stubborn()
	cutOff.Hold, cutOff.HoldOn = 400*time.Millisecond, -1
	return []Provocation{
		{
			Name: "silent-holder",
			What: "the holder's session expires in silence, and the holder holds on",
			Config: workload.Config{
				Clients: 8, Locks: 2, Duration: 7 * time.Second, Mix: slow(),
				Schedule: aimed("expire-silence", fault.AtHolder, 5, 1200*time.Millisecond, 1700*time.Millisecond),
			},
			Mutants: []string{"zk-lock", "naive", "mutant-delete-by-name", "mutant-never-told", "mutant-no-deadline", "mutant-late-loss", "mutant-hopeful-deadline", "mutant-valid-without-clock", "mutant-context-goes-on", "mutant-lost-untold"},
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
			Name: "silent-tries",
			What: "nobody waits, all try; the holder's session expires in silence",
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
			Name: "no-quorum",
			What: "the servers run without a quorum for a while",
			Config: workload.Config{
				Clients: 4, Locks: 2, Duration: 4 * time.Second, Mix: stubborn(),
				Schedule: several("cut-quorum", fault.AtAnyone, 1, 800*time.Millisecond, 0, 1200*time.Millisecond),
			},
			Mutants: []string{"mutant-hasty-reconnect"},
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
		{
			// syncLimit × tickTime is longer than the session timeout: a follower
			// goes on answering when the leader has expired the session.
			Name: "holder-follower",
			What: "the follower that a holder is linked to is cut off from its peers",
			Config: workload.Config{
				Clients: 8, Locks: 3, Duration: 9 * time.Second, Mix: stubborn(),
				Schedule: aimed("isolate-holder-follower", fault.AtHolder, 2, 4500*time.Millisecond, 2*time.Second),
			},
			Mutants: []string{"mutant-read-heartbeat"},
		},
		{
			// The session lives on, at another server. One that a client gives up
			// instead ends a second later: with holds this long, and three
			// others ahead, the client may well hold the lock then.
			Name: "half-open",
			What: "replies to creates are lost, replies to and requests of releases too",
			Config: workload.Config{
				Clients: 16, Locks: 4, Duration: 7 * time.Second, Mix: cutOff,
				Schedule: oneLink(700*time.Millisecond, 150*time.Millisecond, 42,
					strike{"replies-lost", fault.AtEnqueuing}, strike{"replies-lost", fault.AtEnqueuing},
					strike{"replies-lost", fault.AtEnqueuing}, strike{"replies-lost", fault.AtHolder},
					strike{"replies-lost", fault.AtEnqueuing}, strike{"replies-lost", fault.AtEnqueuing},
					strike{"replies-lost", fault.AtEnqueuing}, strike{"requests-lost", fault.AtHolder}),
			},
			Mutants: []string{"mutant-second-node", "mutant-adopted-node", "mutant-stale-ownership", "mutant-forgotten-node", "mutant-token-after-lost-reply"},
		},
		{
			Name: "half-open-tries",
			What: "nobody waits, all try; requests are lost",
			Config: workload.Config{
				Clients: 4, Locks: 1, Duration: 5 * time.Second, Mix: tries,
				Schedule: oneLink(500*time.Millisecond, 250*time.Millisecond, 16, strike{"requests-lost", fault.AtWaiter}),
			},
			Mutants: []string{"mutant-swallowed-clean-up"},
		},
		{
			Name:    "reentry",
			What:    "every hold re-enters, no faults",
			Config:  workload.Config{Clients: 3, Locks: 1, Duration: 2 * time.Second, Mix: reentrant, Schedule: calm()},
			Mutants: []string{"mutant-inner-release", "mutant-depth-of-owner", "mutant-acquired-twice"},
		},
		{
			Name:    "crowd",
			What:    "a crowd takes turns, no faults",
			Config:  workload.Config{Clients: 5, Locks: 1, Duration: 3 * time.Second, Mix: busy, Schedule: calm()},
			Mutants: []string{"mutant-name-order", "mutant-numbers-as-text", "mutant-number-wraps", "mutant-held-stale", "mutant-old-participants"},
		},
		{
			Name:    "foreign-child",
			What:    "a node that is no contender lies in the lock's directory, no faults",
			Config:  workload.Config{Clients: 3, Locks: 1, Duration: time.Second, Mix: busy, Schedule: calm(), Foreign: "foreign"},
			Mutants: []string{"mutant-foreign-child"},
		},
		{
			Name:    "tries",
			What:    "nobody waits, all try, and the lock is idle now and then; no faults",
			Config:  workload.Config{Clients: 3, Locks: 1, Duration: 2 * time.Second, Mix: lonely, Schedule: calm()},
			Mutants: []string{"mutant-sequence-token", "mutant-missing-parent"},
		},
		{
			Name: "spare-lock",
			What: "a lock that one client at a time tries, and the links of holders are slow",
			Config: workload.Config{
				Clients: 6, Locks: 2, Duration: 8 * time.Second, Mix: busy,
				Schedule: aimed("latency", fault.AtHolder, 12, 600*time.Millisecond, 400*time.Millisecond),
			},
			Mutants: []string{"mutant-release-unanswered", "mutant-moody-try", "mutant-close-leaves-session"},
		},
		{
			Name:    "impatient",
			What:    "most acquires are cancelled, some as soon as they begin, no faults",
			Config:  workload.Config{Clients: 5, Locks: 1, Duration: 3 * time.Second, Mix: impatient, Schedule: calm()},
			Mutants: []string{"mutant-cancelled-acquire", "mutant-cancelled-create", "mutant-cancelled-clean-up", "mutant-goroutine-per-wait"},
		},
	}
}
