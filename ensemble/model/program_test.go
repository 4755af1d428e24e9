package model_test

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Program is a sequence of steps of several sessions.
type Program struct {
	Seed  uint64 // from which it was drawn
	Steps []Step
}

// Action is the kind of a step.
type Action string

// The actions. A session that has no connection gets one first, at its server; a
// session that has ended is followed by a new one.
const (
	// Ask sends the requests at once and reads their replies.
	Ask Action = "asks"
	// Move closes the connection and opens one to Server.
	Move Action = "moves to"
	// Steal opens a connection to Server, sends the request on the old one, reads until
	// its reply or until the connection is closed, and closes the old one.
	Steal Action = "moves, then asks on its old connection, to"
	// Leave closes the session.
	Leave Action = "closes its session"
	// Expire closes the session through another connection, at Server.
	Expire Action = "is closed by another connection at"
	// Forge asks for the session with a wrong password, at Server.
	Forge Action = "is asked for with a wrong password at"
	// Ahead moves as Move does and says that the client has seen a zxid that does not
	// exist yet.
	Ahead Action = "moves, having seen the future, to"
)

// Step is one action of a session.
type Step struct {
	Session  int
	Action   Action
	Server   int       // of all but Ask and Leave
	Requests []Request // of Ask and Steal
}

// Request is a request with its body. Paths of the program's own nodes begin with "~".
// SetWatches gives its zxid as a number of steps back.
type Request struct {
	Op   wire.Op
	Body wire.Record
	Cut  int // this many bytes are missing at its end
}

// String returns a line for each step.
func (p Program) String() string {
	var b strings.Builder
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "%3d  %s\n", i, s)
	}
	return b.String()
}

// String returns the step as a sentence.
func (s Step) String() string {
	var requests []string
	for _, r := range s.Requests {
		requests = append(requests, r.String())
	}
	text := fmt.Sprintf("s%d %s", s.Session, s.Action)
	if s.Action != Ask && s.Action != Leave {
		text += fmt.Sprintf(" server %d", s.Server)
	}
	return strings.TrimSuffix(text+": "+strings.Join(requests, "; "), ": ")
}

// String returns the request's name and body.
func (r Request) String() string {
	text := opName(r.Op) + " " + plain.text(r.Body)
	if r.Cut > 0 {
		text += fmt.Sprintf(" without its last %d bytes", r.Cut)
	}
	return strings.TrimSpace(text)
}

// writes reports whether a request is put into the order of changes.
func writes(op wire.Op) bool {
	switch op {
	case wire.Create, wire.Create2, wire.CreateContainer, wire.CreateTTL, wire.Delete, wire.DeleteContainer,
		wire.SetData, wire.SetACL, wire.Multi, wire.Check, wire.CloseSession, wire.Reconfig:
		return true
	}
	return false
}

var opNames = map[wire.Op]string{
	wire.CreateSession: "createSession", wire.CloseSession: "closeSession", wire.ErrorOp: "error",
	wire.Create: "create", wire.Delete: "delete", wire.Exists: "exists", wire.GetData: "getData",
	wire.SetData: "setData", wire.GetACL: "getACL", wire.SetACL: "setACL", wire.GetChildren: "getChildren",
	wire.Sync: "sync", wire.Ping: "ping", wire.GetChildren2: "getChildren2", wire.Check: "check",
	wire.Multi: "multi", wire.Create2: "create2", wire.Reconfig: "reconfig", wire.CheckWatches: "checkWatches",
	wire.RemoveWatches: "removeWatches", wire.CreateContainer: "createContainer",
	wire.DeleteContainer: "deleteContainer", wire.CreateTTL: "createTTL", wire.MultiRead: "multiRead",
	wire.Auth: "auth", wire.SetWatches: "setWatches", wire.SASL: "sasl", wire.GetEphemerals: "getEphemerals",
	wire.GetAllChildrenNumber: "getAllChildrenNumber", wire.SetWatches2: "setWatches2",
	wire.AddWatch: "addWatch", wire.WhoAmI: "whoAmI",
}

func opName(op wire.Op) string {
	if name, ok := opNames[op]; ok {
		return name
	}
	return fmt.Sprintf("operation %d", op)
}
