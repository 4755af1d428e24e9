package zktest

import (
	"github.com/zkverify/zkverify/ensemble/model/service"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Operation is a kind of request.
type Operation int32

// The operations that the locks of package recipes use, except pings, and OpPart. OpClose ends a
// session.
const (
	OpCreate          = Operation(wire.Create)
	OpCreateContainer = Operation(wire.CreateContainer)
	OpDelete          = Operation(wire.Delete)
	OpExists          = Operation(wire.Exists)
	OpGetData         = Operation(wire.GetData)
	OpSetData         = Operation(wire.SetData)
	OpGetChildren     = Operation(wire.GetChildren2)
	OpSync            = Operation(wire.Sync)
	OpMulti           = Operation(wire.Multi)
	OpSetWatches      = Operation(wire.SetWatches)
	OpClose           = Operation(wire.CloseSession)

	// OpPart is a transaction, as OpMulti is, but the servers answer its first part with the
	// error. Servers answer in this way when one part of a transaction cannot be carried out.
	OpPart Operation = -1
)

// Operations returns all operations.
func Operations() []Operation {
	return []Operation{
		OpCreate, OpCreateContainer, OpDelete, OpExists, OpGetData, OpSetData, OpGetChildren, OpSync, OpMulti, OpSetWatches, OpClose, OpPart,
	}
}

// HangUp is a code for [Client.Answer] that makes the servers close the connection instead.
const HangUp = int(service.HangUp)

// Answer makes all servers answer the client's requests of an operation with an error, by
// ZooKeeper's number for it such as −125, and carry none of them out; or close the connection,
// see [HangUp]. This lasts until the next Answer for the operation: 0 lets the servers carry its
// requests out again.
func (c *Client) Answer(op Operation, code int) {
	c.ensemble.do(func() {
		if c.answers == nil {
			c.answers = make(map[Operation]int)
		}
		c.answers[op] = code
	})
}

// refuse implements service.Settings.Refuse. The engine is locked.
func (e *Ensemble) refuse(ip string, op wire.Op) (code wire.Code, part bool) {
	c := e.byIP[ip]
	if c == nil {
		return wire.OK, false
	}
	if code := c.answers[Operation(op)]; code != 0 {
		return wire.Code(code), false
	}
	if op == wire.Multi {
		return wire.Code(c.answers[OpPart]), true
	}
	return wire.OK, false
}
