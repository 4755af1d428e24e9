package model

import "github.com/zkverify/zkverify/ensemble/model/tree"

// Kind is the kind of a message between a leader and a follower (the packet types of
// org.apache.zookeeper.server.quorum.Leader).
type Kind int

// The kinds, in the order in which a follower joins.
const (
	FollowerInfo Kind = iota // a follower's number and accepted epoch
	LeaderInfo               // the epoch that the leader wants to begin
	AckEpoch                 // the follower's current epoch, or -1, and last transaction
	Diff                     // the data that the follower lacks follows as proposals and commits
	Trunc                    // the follower takes back its transactions after Zxid
	Snap                     // the leader's tree
	NewLeader                // the end of the data that the follower lacks
	UpToDate                 // the follower serves from now on
	Proposal
	Ack
	Commit
	Ask         // a write of a follower's client, or a sync
	SyncDone    // everything before the sync has been sent
	Ping        // of the leader; the follower answers with its active sessions
	Revalidate  // a session has come to the follower
	Revalidated // whether the session is alive
)

// Touch is a session that was active at a follower.
type Touch struct {
	Session int64
	Timeout int32 // ms
}

// Message is a message between a leader and a follower. A message that was sent is never
// changed, nor the data that it points to.
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
