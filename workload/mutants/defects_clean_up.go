package mutants

import "github.com/zkverify/zkverify/histories"

// cleanUpDefects are in what an acquire or a release leaves behind.
var cleanUpDefects = []Defect{
	{
		Name:      "mutant-cancelled-acquire",
		Recipe:    histories.Mutex,
		Bug:       "vitess #8309",
		What:      "an acquire that is cancelled returns a lease, and no error",
		Guarantee: "mutual exclusion",
	},
	{
		Name:      "mutant-cancelled-create",
		Recipe:    histories.Mutex,
		Bug:       "CURATOR-79, -62, -205, -202",
		What:      "the node of an acquire that is cancelled while the create is under way stays",
		Guarantee: "no leak",
	},
	{
		Name:      "mutant-cancelled-clean-up",
		Recipe:    histories.Mutex,
		Bug:       "vitess #15756",
		What:      "deletes the node of a cancelled acquire with the context that was cancelled",
		Guarantee: "no leak",
	},
	{
		Name:      "mutant-swallowed-clean-up",
		Recipe:    histories.Mutex,
		Bug:       "kazoo #732",
		What:      "a failed try deletes its node once, and does not look at what became of that",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-forgotten-node",
		Recipe:    histories.Mutex,
		Bug:       "CURATOR-678, -486",
		What:      "a release that is not answered forgets the node instead of deleting it again",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-second-node",
		Recipe:    histories.Mutex,
		Bug:       "CURATOR-45, Netflix/curator #3, samuel/go-zookeeper #229",
		What:      "creates a second node when the reply to the create is lost; nobody knows of the first, which blocks everybody",
		Guarantee: "progress",
	},
	{
		Name:      "mutant-second-entry",
		Recipe:    histories.NonReentrant,
		Bug:       "Curator's InterProcessSemaphoreMutex knows no owner",
		What:      "lets the owner of a lock that is not reentrant in a second time",
		Guarantee: "reentrancy",
	},
	{
		Name:      "mutant-others-lease",
		Recipe:    histories.NonReentrant,
		Bug:       "CURATOR-376",
		What:      "the release of a lease that was lost deletes the lease of another",
		Guarantee: "mutual exclusion",
	},
}
