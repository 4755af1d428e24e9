package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/remote"
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

func oneClientProvocations() []Provocation {
	busy := stubborn()
	busy.Hold = 5 * time.Millisecond
	return []Provocation{
		{
			Name: "lost-owners",
			What: "holders lose their sessions, and acquire again in the name of the owner that has lost",
			Config: workload.Config{
				Clients: 4, Locks: 2, Duration: 6 * time.Second, Mix: stubborn(),
				Schedule: aimed("expire-session", fault.AtHolder, 8, 600*time.Millisecond, 0),
			},
			Mutants: []string{"mutant-reenters-lost"},
		},
		{
			Name: "lost-owners-of-several",
			What: "holders of several locks lose their sessions, and acquire them all again in the name of the owner that has lost",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.MultiLock},
				Clients: 4, Locks: 1, Duration: 6 * time.Second, Mix: stubborn(),
				Schedule: aimed("expire-session", fault.AtHolder, 8, 600*time.Millisecond, 0),
			},
			Mutants: []string{"mutant-multi-reenters-lost"},
		},
		{
			Name:    "siblings",
			What:    "contenders of one client wait for each other, no faults",
			Config:  workload.Config{Clients: 4, Pairs: 2, Locks: 1, Duration: 5 * time.Second, SessionTimeout: longer, Mix: busy, Schedule: calm()},
			Mutants: []string{"mutant-sleeping-sibling"},
		},
	}
}

func revocationProvocations() []Provocation {
	long := stubborn()
	long.Hold = 150 * time.Millisecond // ten times that, with this recipe
	impatient := long                  // a waiter asks when its patience has ended
	impatient.Hold, impatient.Timeout, impatient.Patience = 200*time.Millisecond, 1, 500*time.Millisecond
	return []Provocation{
		{
			Name: "revocation",
			What: "holders that hold on for long are asked to release again and again, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Revocation},
				Clients: 12, Locks: 3, Duration: 9 * time.Second, Mix: impatient, Schedule: calm(),
			},
			Mutants: []string{
				"mutant-revocation-of-all", "mutant-revocation-data-stays", "mutant-revocation-disarmed", "mutant-revocation-forces", "mutant-revocation-of-previous",
			},
		},
		{
			// A client that has released a lock asks the next holder for it, at once, in a
			// third of its cycles. A lost request shows if the lease then lasts for a session
			// timeout: some one in ten hand-overs shows it, and a lock has one in more than a
			// second.
			Name: "one-request",
			What: "holders that hold on for long are asked to release once or twice, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Revocation},
				Clients: 16, Locks: 8, Duration: 15 * time.Second, Mix: long, Schedule: calm(),
			},
			Mutants: []string{"mutant-revocation-before-watch"},
		},
	}
}

func momentProvocations() []Provocation {
	robbed := stubborn()
	robbed.Guarded = 1
	broken := stubborn()
	broken.Hold = 100 * time.Millisecond
	rounds := []histories.Recipe{histories.DoubleBarrier}
	return []Provocation{
		{
			Name: "members-on-their-way",
			What: "members of a double barrier crash, and others stay inside for longer than their sessions live; no faults",
			Config: workload.Config{
				Recipes: rounds, Clients: 24, Locks: 8, Duration: 14 * time.Second, Mix: broken, Schedule: calm(),
			},
			Mutants: []string{"mutant-double-barrier-lowest-last"},
		},
		{
			Name: "robbed-writers",
			What: "holders whose session was forced to expire write to ZooKeeper as soon as they have another",
			Config: workload.Config{
				Clients: 4, Locks: 1, Duration: 8 * time.Second, Mix: robbed,
				Schedule: aimed("expire-session", fault.AtHolder, 9, 800*time.Millisecond, 0),
			},
			Mutants: []string{"mutant-guarded-new-session"},
		},
	}
}

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
