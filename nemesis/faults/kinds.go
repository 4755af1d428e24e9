package faults

import (
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// List returns every kind of fault, in the order in which they are documented.
func List() fault.Kinds {
	return fault.Kinds{
		cutKind("down", "a client's connections are closed and new ones refused", links.Down),
		cutKind("black-hole", "a client's data vanishes both ways, connections stay open", links.BlackHole),
		cutKind("requests-lost", "a client's requests vanish, replies would pass", links.RequestsLost),
		cutKind("replies-lost", "a client's requests are carried out, the replies vanish", links.RepliesLost),
		cutKind("reset", "a client's connections are reset as soon as it sends anything", links.Reset),
		truncatedKind(),
		latencyKind(),
		bandwidthKind(),
		slicerKind(),
		stallKind(),
		silenceKind(),
		expireKind(),
		deleteKind(),
		isolateKind(),
		leaderKind(),
		followerKind(),
		slowFollowerKind(),
		deafKind(),
		deposedKind(),
		pauseWorkerKind(),
		killWorkerKind(),
		partitionKind(),
		bridgeKind(),
		oneWayKind(),
		slowPeersKind(),
		stallPeersKind(),
		cutQuorumKind(),
		killKind(),
		killLeaderKind(),
		pauseKind(),
		restartKind(),
		rollingKind(),
		upgradeKind(),
		reconfigKind(),
		quorumKind(),
		unplugKind(),
		failpointKind(),
		clockRateKind(),
		clockStepKind(),
	}
}
