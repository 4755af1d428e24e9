package selftest

import (
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
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
