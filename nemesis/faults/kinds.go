package faults

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// List returns every kind of fault, in the order in which they are documented.
func List() []fault.Kind {
	return []fault.Kind{
		cutKind("down", "a client's connections are closed and new ones refused", links.Down),
		cutKind("black-hole", "a client's data vanishes both ways, connections stay open", links.BlackHole),
		cutKind("requests-lost", "a client's requests vanish, replies would pass", links.RequestsLost),
		cutKind("replies-lost", "a client's requests are carried out, the replies vanish", links.RepliesLost),
		cutKind("reset", "a client's connections are reset as soon as it sends anything", links.Reset),
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

// Select returns the kinds that names ask for: "all", "none" (or nothing), or
// names of kinds. Kinds that need what the ensemble does not have are left out of
// "all", and an error when asked for by name. A nil ensemble has everything.
// workers says whether clients live in worker processes.
func Select(names []string, e ensemble.Ensemble, workers bool) ([]fault.Kind, error) {
	var out []fault.Kind
	for _, name := range names {
		switch name = strings.TrimSpace(name); name {
		case "", "none":
			continue
		case "all":
			for _, k := range List() {
				if (e == nil || k.Needs.MetBy(e)) && (workers || k.Needs != fault.NeedsWorkers) {
					out = appendKind(out, k)
				}
			}
			continue
		}
		k, err := Named(name)
		if err != nil {
			return nil, err
		}
		if e != nil && !k.Needs.MetBy(e) {
			return nil, k.NotOn(e)
		}
		if k.Needs == fault.NeedsWorkers && !workers {
			return nil, fmt.Errorf("fault %q needs %s", name, k.Needs)
		}
		out = appendKind(out, k)
	}
	return out, nil
}

func appendKind(to []fault.Kind, k fault.Kind) []fault.Kind {
	if slices.ContainsFunc(to, func(o fault.Kind) bool { return o.Name == k.Name }) {
		return to
	}
	return append(to, k)
}

// Named returns the kind of a name, or an error that says which there are.
func Named(name string) (fault.Kind, error) {
	known := []string{"all", "none"}
	for _, k := range List() {
		if k.Name == name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	return fault.Kind{}, words.Unknown("fault", name, known, words.Known(known))
}
