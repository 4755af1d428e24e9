package mutants

import "github.com/zkverify/zkverify/histories"

var mutexDefects = []Defect{
	{
		Name:      "mutant-read-heartbeat",
		Recipe:    histories.Mutex,
		Bug:       "Curator's and every stock client's view of the link",
		What:      "takes any answer of its server for a heartbeat, also that of a follower cut off from its leader",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-no-session-check",
		Recipe:    histories.Mutex,
		Bug:       "etcd #11456",
		What:      "does not look at its session again after the wait: an expiry ends the wait, and looks like its turn",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-inner-release",
		Recipe:    histories.Mutex,
		Bug:       "kazoo #291",
		What:      "the release of a re-entry deletes the lock node of the outer hold",
		Guarantee: "reentrancy",
	},
	{
		Name:      "mutant-delete-by-name",
		Recipe:    histories.Mutex,
		Bug:       "etcd #22082",
		What:      "the release of a lease that was lost deletes whatever node holds the lock now",
		Guarantee: "mutual exclusion",
	},
}
