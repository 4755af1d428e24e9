package model

import "github.com/zkverify/zkverify/ensemble/model/tree"

// Kind is what a message between a leader and a follower means (the packet types of
// org.apache.zookeeper.server.quorum.Leader).
type Kind int

// The kinds, in the order in which a follower joins.
const (
	FollowerInfo Kind = iota // a follower's number and accepted epoch
	LeaderInfo               // the epoch that the leader wants to begin
	AckEpoch                 // the follower's current epoch, or -1, and last transaction
	Diff                     // what the follower lacks comes as proposals and commits
	Trunc                    // the follower takes back what is behind Zxid
	Snap                     // the leader's tree
	NewLeader                // all was sent that the follower has to have
	UpToDate                 // the follower serves from now on
	Proposal
	Ack
	Commit
	Ask         // a write of a follower's client, or a sync
	SyncDone    // everything before the sync has been sent
	Ping        // of the leader; the follower answers with the sessions that it has heard of
	Revalidate  // a session has come to the follower
	Revalidated // whether it is one
)

// Touch is a session that a follower has heard of.
type Touch struct {
	Session int64
	Timeout int32 // ms
}

// Message is what a leader and a follower say to each other. Nobody changes one that was
// sent, nor what it points to.
type Message struct {
	Kind    Kind
	Server  int           // FollowerInfo
	Epoch   int64         // FollowerInfo, LeaderInfo, AckEpoch
	Zxid    int64         // AckEpoch, Trunc, NewLeader, Ack, Commit, Ping
	Txn     *tree.Txn     // Proposal
	Tree    *tree.Tree    // Snap
	Request *tree.Request // Ask
	Touched []Touch       // Ping; Revalidate has one
	Valid   bool          // Revalidated
}
