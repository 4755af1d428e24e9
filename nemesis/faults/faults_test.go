package faults

import (
	"testing"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
)

func TestFaultsOnRealServers(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers")
	}
	ensembletest.Turn(t)
	network, err := links.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer network.Close()
	e, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{Peers: network})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := servers{e, network}

	for _, name := range []string{"down", "black-hole", "requests-lost", "replies-lost", "reset"} {
		t.Run(name+" keeps a client from its server", func(t *testing.T) { s.testCut(t, name) })
	}
	for _, lost := range []string{"from-leader", "to-leader"} {
		t.Run("one-way, "+lost+", keeps a follower from serving", func(t *testing.T) { s.testOneWay(t, lost) })
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"replies-lost lets requests be carried out", s.testRepliesLost},
		{"latency slows a client down", s.testLatency},
		{"expire-silence ends the session after its timeout", s.testExpireSilence},
		{"expire-session ends the session at once", s.testExpireSession},
		{"isolate-holder-follower ends the session of a client that keeps its server", s.testIsolateHoldersFollower},
		{"isolate-holder-follower takes a waiter if there is no holder", s.testIsolateWaitersFollower},
		{"truncated-reply carries a request out and ends the connection in its reply", s.testTruncatedReply},
		{"bandwidth makes a large reply take its time", s.testBandwidth},
		{"slicer delivers a reply in pieces, whole", s.testSlicer},
		{"isolate-server keeps a follower from serving", s.testIsolateServer},
		{"partition leaves the minority's clients nowhere to go", s.testPartition},
		{"bridge keeps the leader and a follower apart, the third serves", s.testBridge},
		{"cut-quorum leaves servers that run, accept, and serve no client", s.testCutQuorum},
		{"slow-peers makes writes slow, and reads not", s.testSlowPeers},
		{"stall holds a client's reply back, and then delivers it", s.testStall},
		{"stall-peers holds a follower's write back, and then carries it out", s.testStallPeers},
		{"kill-server moves its client, who keeps the session", s.testKillServer},
		{"kill-leader makes another server lead", s.testKillLeader},
		{"pause-server leaves connections open and answers nothing", s.testPauseServer},
		{"lose-quorum keeps all from serving", s.testLoseQuorum},
		{"restart-server ends the server's connections and is over when it serves", s.testRestartServer},
		{"rolling-restart ends the connections of every server, and all serve again", s.testRollingRestart},
		{"isolate-leader makes another server lead", s.testIsolateLeader},
	} {
		t.Run(test.name, test.run)
	}
}
