package tree

import (
	"fmt"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// maxTTL is the longest time to live, in ms: the owner of a node has 40 bits for it.
const maxTTL = 1<<40 - 1

// creation is a create of any kind. Its ttl is -1 if the request has none.
type creation struct {
	wire.CreateRequest
	op  wire.Op
	ttl int64
}

func (c *creation) sequential() bool {
	return c.Flags == wire.FlagSequential || c.Flags == wire.FlagEphemeralSequential ||
		c.Flags == wire.FlagPersistentSequentialTTL
}

// hasTTL reports whether the flags ask for a time to live. The request may have a field
// for one or not, with any flags.
func (c *creation) hasTTL() bool {
	return c.Flags == wire.FlagPersistentTTL || c.Flags == wire.FlagPersistentSequentialTTL
}

// kind returns the kind of the created node. The operation decides on containers and
// timed nodes, so a Create with the flag of a container makes an ordinary node, as the
// real server does.
func (c *creation) kind() kind {
	switch {
	case c.op == wire.CreateContainer:
		return container
	case c.op == wire.CreateTTL:
		return timed
	case c.Flags == wire.FlagEphemeral || c.Flags == wire.FlagEphemeralSequential:
		return ephemeral
	}
	return persistent
}

// checkMode checks the flags, and the time to live against them. A CreateTTL with neither
// the flag nor a time is refused too; the real server crashes over it.
func (c *creation) checkMode() wire.Code {
	switch {
	case c.Flags < wire.FlagPersistent || c.Flags > wire.FlagPersistentSequentialTTL,
		c.hasTTL() && (c.ttl <= 0 || c.ttl > maxTTL),
		!c.hasTTL() && (c.ttl >= 0 || c.op == wire.CreateTTL):
		return wire.BadArguments
	}
	return wire.OK
}

func (d *draft) create(c creation, ids []wire.ID) (Change, wire.Code) {
	if code := c.checkMode(); code != wire.OK {
		return nil, code
	}
	if !hasParent(c.Path) {
		return nil, wire.BadArguments
	}
	acl, code := settleACL(c.ACL, ids)
	if code != wire.OK {
		return nil, code
	}
	dir, _ := parent(c.Path)
	p := d.node(dir)
	if p == nil {
		return nil, wire.NoNode
	}
	if !Permits(p.acl, wire.PermCreate, ids) {
		return nil, wire.NoAuth
	}
	path := c.Path
	if c.sequential() {
		path += fmt.Sprintf("%010d", p.creations)
	}
	switch {
	case !validPath(path):
		return nil, wire.BadArguments
	case d.node(path) != nil:
		return nil, wire.NodeExists
	case p.kind == ephemeral:
		return nil, wire.NoChildrenForEphemerals
	}
	p.creations++
	p.children++
	d.put(path, &record{acl: acl, kind: c.kind()})
	change := Create{Path: path, Data: c.Data, ACL: acl, ParentCversion: p.creations}
	switch c.kind() {
	case ephemeral:
		change.Ephemeral = true
	case container:
		change.Container = true
	case timed:
		change.TTL = c.ttl
	}
	return change, wire.OK
}
