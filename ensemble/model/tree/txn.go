package tree

import "github.com/zkverify/zkverify/ensemble/model/wire"

// Request is a decoded request of a session, with the identities of its connection.
type Request struct {
	Session int64
	Cxid    int32 // the client's number of the request
	Op      wire.Op
	Body    wire.Record // as wire.NewRequest makes it, nil for one that could not be decoded
	Auth    []wire.ID
	Timeout int32 // ms, of a session that begins
}

// Txn is a change, as the leader has ordered it, which every server applies to its tree.
// The trees share its slices, so they must not be written to.
type Txn struct {
	Session int64
	Cxid    int32
	Zxid    int64
	Time    int64   // ms since 1970, by the leader's clock
	Op      wire.Op // of the request; ErrorOp if the change is an Error
	Change  Change
}

// Change is one of the types below.
type Change interface{ change() }

// The changes. A request that is refused becomes an Error, which takes a zxid as the
// others do and changes nothing.
type (
	// Create makes a node. Its path includes its sequence number.
	Create struct {
		Path           string
		Data           []byte
		ACL            []wire.ACL
		Ephemeral      bool
		Container      bool
		TTL            int64 // ms, 0 for none
		ParentCversion int32 // of the parent, with the new node
	}
	// Delete removes a node.
	Delete struct{ Path string }
	// SetData gives a node data and a version.
	SetData struct {
		Path    string
		Data    []byte
		Version int32
	}
	// SetACL gives a node an ACL and an ACL version.
	SetACL struct {
		Path    string
		ACL     []wire.ACL
		Version int32
	}
	// Check has found a node at a version; it makes no change.
	Check struct{ Path string }
	// CreateSession begins a session.
	CreateSession struct{ Timeout int32 } // ms
	// CloseSession ends one and deletes its ephemeral nodes.
	CloseSession struct{ Paths []string }
	// Multi is several changes at once. If one is an Error, none takes place.
	Multi struct{ Parts []Part }
	// Error makes no change.
	Error struct{ Code wire.Code }
)

// Part is one change of a Multi. The operation of an Error is ErrorOp.
type Part struct {
	Op     wire.Op
	Change Change
}

func (Create) change()        {}
func (Delete) change()        {}
func (SetData) change()       {}
func (SetACL) change()        {}
func (Check) change()         {}
func (CreateSession) change() {}
func (CloseSession) change()  {}
func (Multi) change()         {}
func (Error) change()         {}

// Event is a change of a node that watches report. NodeCreated and NodeDataChanged are
// for the watches of the node's data, NodeChildrenChanged for those of its children.
// NodeDeleted is for both: a watcher that has both is notified once.
type Event struct {
	Type wire.EventType
	Path string
	Zxid int64
	ACL  []wire.ACL // of the node: only watchers that may read it are notified
}

// Outcome is the outcome of a change on one server: the answer to its client, and the
// events for watches, in the order of the notifications.
type Outcome struct {
	Err    wire.Code
	Reply  wire.Record // nil for a reply without a body
	Events []Event
}
