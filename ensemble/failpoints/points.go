package failpoints

import "time"

// Role is the role of the servers that come to a point.
type Role string

// The roles.
const (
	AnyServer Role = "any"
	Learner   Role = "learner" // a server that connects to its leader
	Leader    Role = "leader"
)

// Point is a place in the code of ZooKeeper. The classes and methods are the same in 3.8.0
// and 3.9.6.
type Point struct {
	Name        string
	Description string // one line
	Role        Role
	// Often reports that a server comes here with every transaction or ping, and not once in a
	// while.
	Often bool
	// Damages reports that an exception here damages the server for good: it goes on with a log
	// that lacks transactions, and after a restart it lacks them too (3.8.0) or does not start
	// (3.9.6). That is a known bug of ZooKeeper, so runs do not draw this exception.
	Damages bool
	// Snapshot reports that a learner comes here only if its leader sends it a snapshot.
	Snapshot bool

	class, method, location string // in the language of Byteman's rules
	condition               string // "true": always
	unchecked               bool   // the method cannot throw an IOException
}

// Points lists the points, in the order in which they are documented.
func Points() []Point {
	const (
		log     = "org.apache.zookeeper.server.persistence.FileTxnLog"
		learner = "org.apache.zookeeper.server.quorum.Learner"
		sync    = "syncWithLeader(long)"
	)
	return []Point{
		{
			Name: "before-log-sync", Description: "transactions are about to be written and synced to the log", Role: AnyServer, Often: true, Damages: true,
			class: log, method: "commit()", location: "AT ENTRY", condition: "true",
		},
		{
			Name: "after-log-sync", Description: "transactions are in the log, and not acknowledged", Role: AnyServer, Often: true, Damages: true,
			class: log, method: "commit()", location: "AT EXIT", condition: "true",
		},
		{
			Name: "diff-sync", Description: "a learner has read one of the transactions that it lacks, and not carried it out", Role: Learner, Often: true,
			class: learner, method: sync, location: "AFTER INVOKE SerializeUtils.deserializeTxn 1", condition: `$0.self.getSyncMode().name().equals("DIFF")`,
		},
		{
			Name: "snap-sync", Description: "a learner has read the leader's tree, and not written it", Role: Learner, Snapshot: true,
			class: learner, method: sync, location: "AFTER INVOKE ZKDatabase.deserializeSnapshot 1", condition: "true",
		},
		// This method acknowledges NEWLEADER first, and UPTODATE second.
		{
			Name: "before-newleader-ack", Description: "after NEWLEADER: a learner has written its new epoch, and not acknowledged it", Role: Learner,
			class: learner, method: sync, location: "AT INVOKE Learner.writePacket 1", condition: "true",
		},
		{
			Name: "after-newleader-ack", Description: "before UPTODATE: a learner has acknowledged the new leader, and does not serve", Role: Learner,
			class: learner, method: sync, location: "AFTER INVOKE Learner.writePacket 1", condition: "true",
		},
		{
			Name: "before-session-close", Description: "the leader has found that a session has expired, and not proposed its end", Role: Leader,
			class: "org.apache.zookeeper.server.ZooKeeperServer", method: "expire(org.apache.zookeeper.server.SessionTracker$Session)", location: "AT ENTRY", condition: "true",
			unchecked: true,
		},
		{
			Name: "ping-reply", Description: "a server is about to answer a client's ping", Role: AnyServer, Often: true,
			class: "org.apache.zookeeper.server.ServerCnxn", method: "sendResponse(org.apache.zookeeper.proto.ReplyHeader,org.apache.jute.Record,java.lang.String)",
			location: "AT ENTRY", condition: "$1.getXid() == -2", // ClientCnxn.PING_XID
		},
	}
}

// Action is an effect of a failpoint.
type Action string

// The actions.
const (
	Delay     Action = "delay"     // the thread waits there
	Exception Action = "exception" // an IOException is thrown, an UncheckedIOException where the method cannot throw that
	Halt      Action = "halt"      // the JVM ends there
)

// Actions lists the actions.
func Actions() []Action { return []Action{Delay, Exception, Halt} }

// Drawn lists the actions that runs draw for the point. A schedule may name any.
func (p Point) Drawn() []Action {
	if p.Damages {
		return []Action{Delay, Halt}
	}
	return Actions()
}

// Failpoint has an effect at a point, each time that a server comes there.
type Failpoint struct {
	Point  Point
	Action Action
	Delay  time.Duration // of the action Delay, in whole milliseconds
}
