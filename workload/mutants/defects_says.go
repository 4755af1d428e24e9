package mutants

import "github.com/zkverify/zkverify/histories"

// saysDefects are in what a lock says of itself, and in the tokens that its places
// and nodes have.
var saysDefects = []Defect{
	{
		Name:      "mutant-held-stale",
		Recipe:    histories.Mutex,
		Bug:       "a flag that no release clears",
		What:      "a client that has held a lock once says that it holds it ever after",
		Guarantee: "says what is so",
	},
	{
		Name:      "mutant-hopeful-deadline",
		Recipe:    histories.Mutex,
		Bug:       "a deadline that is counted from the time of the question",
		What:      "tells a deadline that is a session timeout ahead, however long nobody has heard of the servers",
		Guarantee: "says what is so",
	},
	{
		Name:      "mutant-depth-of-owner",
		Recipe:    histories.Mutex,
		Bug:       "a counter that all leases of an owner share",
		What:      "an outer lease says the depth of the innermost one",
		Guarantee: "says what is so",
	},
	{
		Name:      "mutant-valid-without-clock",
		Recipe:    histories.Mutex,
		Bug:       "etcd #10811",
		What:      "a lease is valid until its holder has been told of the loss, whatever the clock says",
		Guarantee: "says what is so",
	},
	{
		Name:      "mutant-context-goes-on",
		Recipe:    histories.Mutex,
		Bug:       "a loss that ends a channel and forgets the context",
		What:      "the context of a lease goes on when the lease is lost",
		Guarantee: "says what is so",
	},
	{
		Name:      "mutant-old-participants",
		Recipe:    histories.Mutex,
		Bug:       "a cache in front of the children",
		What:      "lists the queue as it was when it was last asked for",
		Guarantee: "says what is so",
	},
	{
		Name:      "mutant-acquired-twice",
		Recipe:    histories.Mutex,
		Bug:       "an event of the lease instead of the hold",
		What:      "tells observers of a re-entry as of a grant",
		Guarantee: "says what is so",
	},
	{
		Name:      "mutant-lost-untold",
		Recipe:    histories.Mutex,
		Bug:       "an event that only releases have",
		What:      "tells the holder of a loss, and its observers of nothing",
		Guarantee: "says what is so",
	},
	{
		Name:      "mutant-unannounced-place",
		Recipe:    histories.Mutex,
		Bug:       "an event of the acquire instead of the node",
		What:      "does not tell of its new place in the queue when the session of the old one has ended",
		Guarantee: "says what is so",
	},
	{
		Name:      "mutant-token-after-lost-reply",
		Recipe:    histories.Mutex,
		Bug:       "a token from the wrong field of the node",
		What:      "finds its node after a lost reply, and takes the transaction after its creation for its token",
		Guarantee: "says what is so",
	},
	{
		Name:      "mutant-downgraded-token",
		Recipe:    histories.ReadWrite,
		Bug:       "CURATOR-621",
		What:      "a downgraded reader has a token of its own, newer than those of writers that wait",
		Guarantee: "fencing",
	},
}
