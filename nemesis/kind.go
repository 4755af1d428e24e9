package nemesis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/internal/words"
)

// Kind is a family of faults: what a schedule names.
type Kind struct {
	Name        string
	Description string // one line
	// Needs is what it needs of an ensemble. A kind that needs anything is one
	// of servers, of which one at a time is in force at most, unless it is
	// workers; the others hit one client each.
	Needs Need
	// Weight is how often it is drawn, relative to others of its sort.
	Weight int
	// Span is how long it lasts at least and at most, for a session timeout.
	// 0 and 0: it is over as soon as it has begun.
	Span func(sessionTimeout time.Duration) (least, most time.Duration)
	// Make looks at the scene and makes the fault. [ErrNobody] means that
	// the scene has nobody for it at this moment.
	Make func(Scene) (Fault, error)

	params []param // what a schedule may decide, else it is drawn
	links  bool    // a schedule may say which of the client's links are hit
	server bool    // a schedule may say which server is hit
	early  int     // every drawn schedule has it, however short: the lowest is dealt first
}

// OfServers reports whether the kind is one of servers: everybody is hit.
func (k Kind) OfServers() bool { return k.Needs != NeedsNothing && k.Needs != NeedsWorkers }

// List returns every kind of fault, in the order in which they are documented.
func List() []Kind {
	return []Kind{
		cutKind("down", "a client's connections are closed and new ones refused", linksDown),
		cutKind("black-hole", "a client's data vanishes both ways, connections stay open", linksBlackHole),
		cutKind("requests-lost", "a client's requests vanish, replies would pass", linksRequestsLost),
		cutKind("replies-lost", "a client's requests are carried out, the replies vanish", linksRepliesLost),
		cutKind("reset", "a client's connections are reset as soon as it sends anything", linksReset),
		truncatedKind(),
		latencyKind(),
		bandwidthKind(),
		slicerKind(),
		silenceKind(),
		expireKind(),
		deleteKind(),
		isolateKind(),
		leaderKind(),
		followerKind(),
		slowFollowerKind(),
		pauseWorkerKind(),
		killWorkerKind(),
		partitionKind(),
		bridgeKind(),
		oneWayKind(),
		slowPeersKind(),
		cutQuorumKind(),
		killKind(),
		killLeaderKind(),
		pauseKind(),
		restartKind(),
		rollingKind(),
		quorumKind(),
		unplugKind(),
	}
}

// Need is what a kind of fault needs of an ensemble.
type Need string

// The needs.
const (
	NeedsNothing   Need = ""                                                // clients have links of their own with every ensemble
	NeedsPeers     Need = "links between the servers"                       // see ensemble.PeerLinks
	NeedsProcesses Need = "the servers' processes"                          // see ensemble.Processes
	NeedsPlugs     Need = "servers on a network that they can be taken off" // see ensemble.Pluggable
	NeedsWorkers   Need = "clients in worker processes (--workers)"         // whatever the ensemble; see Workers
)

// MetBy reports whether an ensemble has what is needed.
func (n Need) MetBy(e ensemble.Ensemble) bool {
	switch n {
	case NeedsPeers:
		_, ok := e.(ensemble.PeerLinks)
		return ok
	case NeedsProcesses:
		_, ok := e.(ensemble.Processes)
		return ok
	case NeedsPlugs:
		_, ok := e.(ensemble.Pluggable)
		return ok
	}
	return true
}

// Select returns the kinds that names ask for: "all", "none" (or nothing), or
// names of kinds. Kinds that need what the ensemble does not have are left out of
// "all", and an error when asked for by name. A nil ensemble has everything.
// workers says whether clients live in worker processes.
func Select(names []string, e ensemble.Ensemble, workers bool) ([]Kind, error) {
	var out []Kind
	for _, name := range names {
		switch name = strings.TrimSpace(name); name {
		case "", "none":
			continue
		case "all":
			for _, k := range List() {
				if (e == nil || k.Needs.MetBy(e)) && (workers || k.Needs != NeedsWorkers) {
					out = appendKind(out, k)
				}
			}
			continue
		}
		k, err := kindNamed(name)
		if err != nil {
			return nil, err
		}
		if e != nil && !k.Needs.MetBy(e) {
			return nil, k.notOn(e)
		}
		if k.Needs == NeedsWorkers && !workers {
			return nil, fmt.Errorf("fault %q needs %s", name, k.Needs)
		}
		out = appendKind(out, k)
	}
	return out, nil
}

func (k Kind) notOn(e ensemble.Ensemble) error {
	return fmt.Errorf("fault %q needs %s, which are out of reach with this ensemble (%s)", k.Name, k.Needs, e.Kind())
}

func appendKind(to []Kind, k Kind) []Kind {
	if slices.ContainsFunc(to, func(o Kind) bool { return o.Name == k.Name }) {
		return to
	}
	return append(to, k)
}

func kindNamed(name string) (Kind, error) {
	known := []string{"all", "none"}
	for _, k := range List() {
		if k.Name == name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	return Kind{}, words.Unknown("fault", name, known, words.Known(known))
}

// timeouts makes a Span in multiples of the session timeout.
func timeouts(least, most float64) func(time.Duration) (time.Duration, time.Duration) {
	return func(t time.Duration) (time.Duration, time.Duration) {
		return time.Duration(least * float64(t)), time.Duration(most * float64(t))
	}
}

// instant is the Span of what is over as soon as it has begun.
func instant(time.Duration) (time.Duration, time.Duration) { return 0, 0 }
