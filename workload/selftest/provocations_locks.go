package selftest

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
)

// mutexProvocations drive a mutex without faults, or with slow links.
func mutexProvocations() []Provocation {
	busy := stubborn()
	busy.Hold = 5 * time.Millisecond
	reentrant, lonely, trying := stubborn(), stubborn(), stubborn()
	reentrant.Reenter = 1
	lonely.Try, lonely.Hold, lonely.Rest = 1, 50*time.Millisecond, 100*time.Millisecond // the lock is idle now and then
	trying.Try, trying.Hold = 1, time.Millisecond                                       // most locks are free
	impatient := busy
	impatient.Timeout, impatient.Cancel, impatient.Patience = 0.4, 0.4, 20*time.Millisecond
	return []Provocation{
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
			What:    "no client waits, all try, and the lock is idle now and then; no faults",
			Config:  workload.Config{Clients: 3, Locks: 1, Duration: 2 * time.Second, Mix: lonely, Schedule: calm()},
			Mutants: []string{"mutant-sequence-token", "mutant-missing-parent"},
		},
		{
			Name: "spare-lock",
			What: "a lock that one client at a time tries, and the links of holders are slow",
			Config: workload.Config{
				Clients: 8, Locks: 8, Duration: 12 * time.Second, Mix: busy,
				Schedule: aimed("latency", fault.AtHolder, 18, 600*time.Millisecond, 400*time.Millisecond),
			},
			Mutants: []string{"mutant-release-unanswered", "mutant-close-leaves-session"},
		},
		{
			// One try in fifty is refused: of the thousand and more tries of two clients, also
			// on a busy machine, some twenty are.
			Name:    "free-tries",
			What:    "two clients try a few locks, which are free nearly always; no faults",
			Config:  workload.Config{Clients: 2, Locks: 6, Duration: 5 * time.Second, Mix: trying, Schedule: calm()},
			Mutants: []string{"mutant-moody-try"},
		},
		{
			Name:    "impatient",
			What:    "most acquires are cancelled, some as soon as they begin, no faults",
			Config:  workload.Config{Clients: 5, Locks: 1, Duration: 3 * time.Second, Mix: impatient, Schedule: calm()},
			Mutants: []string{"mutant-cancelled-acquire", "mutant-cancelled-create", "mutant-cancelled-clean-up", "mutant-goroutine-per-wait"},
		},
	}
}

func nonReentrantProvocations() []Provocation {
	recipe := []histories.Recipe{histories.NonReentrant}
	again := stubborn()
	again.Reenter = 1
	return []Provocation{
		{
			Name:    "second-entry",
			What:    "every holder asks for the lock again, no faults",
			Config:  workload.Config{Recipes: recipe, Clients: 3, Locks: 1, Duration: 2 * time.Second, Mix: again, Schedule: calm()},
			Mutants: []string{"mutant-second-entry"},
		},
		{
			Name: "silent-holder-nonreentrant",
			What: "the holder's session expires in silence, and the holder holds on",
			Config: workload.Config{
				Recipes: recipe, Clients: 8, Locks: 2, Duration: 11 * time.Second, Mix: slow(),
				Schedule: aimed("expire-silence", fault.AtHolder, 8, 1200*time.Millisecond, 1700*time.Millisecond),
			},
			Mutants: []string{"mutant-others-lease"},
		},
	}
}

func readWriteProvocations() []Provocation {
	recipe := []histories.Recipe{histories.ReadWrite}
	mixed := stubborn()
	mixed.Hold = 5 * time.Millisecond
	// A writer pauses before it downgrades, for as long as the lock can be taken from it.
	robbed := stubborn()
	robbed.Hold, robbed.HoldOn, robbed.Race, robbed.Write, robbed.Cross = 300*time.Millisecond, -1, 1, 0.8, 1
	return []Provocation{
		{
			Name:    "readers-and-writers",
			What:    "readers and writers take turns, some writers downgrade, no faults",
			Config:  workload.Config{Recipes: recipe, Clients: 5, Locks: 1, Duration: 3 * time.Second, Mix: mixed, Schedule: calm()},
			Mutants: []string{"mutant-downgrade-behind", "mutant-later-writer", "mutant-downgraded-token"},
		},
		{
			Name: "stolen-writers",
			What: "sessions of writers are forced to expire just before they downgrade",
			Config: workload.Config{
				Recipes: recipe, Clients: 6, Locks: 2, Duration: 6 * time.Second, Mix: robbed,
				Schedule: aimed("expire-session", fault.AtHolder, 40, 140*time.Millisecond, 0),
			},
			Mutants: []string{"mutant-local-read"},
		},
	}
}

// queueProvocations test the queue of a mutex: its order, and the waiters that a release wakes.
func queueProvocations() []Provocation {
	busy := stubborn()
	busy.Hold = time.Millisecond
	return []Provocation{
		{
			Name: "rush",
			What: "many clients wait for a lock that is held for a moment only, no faults",
			Config: workload.Config{
				Clients: 10, Locks: 2, Duration: 3 * time.Second, Mix: busy, Schedule: calm(),
			},
			Mutants: []string{"mutant-waits-for-nobody", "mutant-herd", "mutant-token-kept"},
		},
		{
			Name: "naps",
			What: "clients wait for locks that are held for a moment only, no faults: who sleeps longer than that was not woken",
			Config: workload.Config{
				Clients: 8, Locks: 2, Duration: 6 * time.Second, SessionTimeout: longer, Mix: busy, Schedule: calm(),
			},
			Mutants: []string{"mutant-event-dropped", "mutant-watch-set-once"},
		},
		{
			Name: "cut-off-waiters",
			What: "waiters lose their links for a moment, and one its session",
			Config: workload.Config{
				Clients: 6, Locks: 2, Duration: 5 * time.Second, Mix: stubborn(),
				Schedule: steps(
					several("down", fault.AtWaiter, 6, 300*time.Millisecond, 330*time.Millisecond, 250*time.Millisecond),
					several("expire-silence", fault.AtWaiter, 2, 2300*time.Millisecond, 0, 1800*time.Millisecond),
				),
			},
			Mutants: []string{"mutant-watch-lost", "mutant-expiry-ignored", "mutant-new-place"},
		},
	}
}

func multiLockProvocations() []Provocation {
	return []Provocation{{
		Name: "several-locks",
		What: "clients ask for the same locks in opposite orders, some for a while only, no faults",
		Config: workload.Config{
			Recipes: []histories.Recipe{histories.MultiLock},
			Clients: 5, Locks: 1, Duration: 5 * time.Second,
			Mix: cycle.Mix{
				HoldOn: -1, Try: 0.3, Timeout: 0.3, Cancel: 0.1, Crash: -1, Long: -1, Hold: 5 * time.Millisecond, Patience: 50 * time.Millisecond,
			},
			Schedule: calm(),
		},
		Mutants: []string{"mutant-multi-lock-in-order", "mutant-multi-lock-goes-on", "mutant-multi-lock-keeps-part"},
	}}
}

func handoffProvocations() []Provocation {
	busy := stubborn()
	busy.Hold = 5 * time.Millisecond
	return []Provocation{
		{
			Name: "hand-overs",
			What: "contenders of two clients hand the lock on, no faults",
			Config: workload.Config{
				Recipes: []histories.Recipe{histories.Handoff},
				Clients: 4, Pairs: 2, Locks: 1, Duration: 3 * time.Second, Mix: busy, Schedule: calm(),
			},
			Mutants: []string{"mutant-handoff-for-ever", "mutant-handoff-same-token"},
		},
	}
}

func extremeProvocations() []Provocation {
	many := stubborn()
	many.Hold = 50 * time.Millisecond // a client that comes too early meets a holder
	return []Provocation{
		{
			Name:    "multitude",
			What:    "a hundred wait for one lock, in a few sessions, no faults",
			Config:  workload.Config{Clients: 100, Sessions: 4, Locks: 1, Duration: 9 * time.Second, Mix: many, Schedule: calm()},
			Mutants: []string{"mutant-first-few"},
		},
	}
}

func electionProvocations() []Provocation {
	recipe := []histories.Recipe{histories.Election}
	again, fickle, rare := stubborn(), stubborn(), stubborn()
	again.Reenter, again.Hold = 1, 10*time.Millisecond
	fickle.Cancel, fickle.Hold, fickle.Patience = 0.5, 30*time.Millisecond, 20*time.Millisecond
	// No client leads for longer than until an observer looks again.
	rare.Hold, rare.Rest, rare.Patience = time.Millisecond, 6*time.Second, 5*time.Second
	return []Provocation{
		{
			Name: "silent-leader",
			What: "the leader's session expires in silence, and the leader goes on",
			Config: workload.Config{
				Recipes: recipe, Clients: 8, Locks: 2, Duration: 7 * time.Second, Mix: slow(),
				Schedule: aimed("expire-silence", fault.AtHolder, 5, 1200*time.Millisecond, 1700*time.Millisecond),
			},
			Mutants: []string{"mutant-latch-suspended"},
		},
		{
			Name:    "many-terms",
			What:    "leaders come and go, and campaign once more while they lead, no faults",
			Config:  workload.Config{Recipes: recipe, Clients: 5, Locks: 1, Duration: 3 * time.Second, Mix: again, Schedule: calm()},
			Mutants: []string{"mutant-latch-reinstated", "mutant-latch-name-order", "mutant-latch-session-epoch"},
		},
		{
			Name:    "fickle-candidates",
			What:    "candidates withdraw, no faults",
			Config:  workload.Config{Recipes: recipe, Clients: 5, Locks: 1, Duration: 3 * time.Second, Mix: fickle, Schedule: calm()},
			Mutants: []string{"mutant-latch-left-behind"},
		},
		{
			Name:    "rare-leaders",
			What:    "there is no leader for seconds, no faults",
			Config:  workload.Config{Recipes: recipe, Clients: 8, Locks: 1, Duration: 12 * time.Second, Mix: rare, Schedule: calm()},
			Mutants: []string{"mutant-observer-falls-back"},
		},
	}
}
