package model_test

import "github.com/zkverify/zkverify/ensemble/model/wire"

// change draws a request that may change one node.
func (d *dice) change(batch bool) Request {
	switch n := d.IntN(100); {
	case n < 55:
		return d.create(batch)
	case n < 80:
		return Request{Op: wire.Delete, Body: &wire.PathVersion{Path: d.path(batch), Version: d.version()}}
	case n < 93:
		return Request{Op: wire.SetData, Body: &wire.SetDataRequest{Path: d.path(batch), Data: d.data(), Version: d.version()}}
	}
	if batch { // a request behind a setACL under way is checked against the old ACL
		return d.create(batch)
	}
	path := d.belowRoot(batch)
	return Request{Op: wire.SetACL, Body: &wire.SetACLRequest{Path: path, ACL: d.aclOf(path), Version: d.version()}}
}

// create draws a create. Batches avoid the paths of containers and of nodes whose time to
// live ends.
func (d *dice) create(batch bool) Request {
	c := wire.CreateRequest{Path: d.path(batch), Data: d.data()}
	c.ACL = d.aclOf(c.Path)
	c.Flags = pick[int32](d, 0, 0, 0, 0, wire.FlagEphemeral, wire.FlagEphemeral, wire.FlagSequential, wire.FlagEphemeralSequential)
	op := pick(d, wire.Create, wire.Create, wire.Create2)
	if !batch && c.Path == "~/c" && d.chance(80) {
		c.Flags, op = wire.FlagContainer, pick(d, wire.CreateContainer, wire.CreateContainer, wire.CreateContainer, wire.Create, wire.Create2)
		if d.chance(10) {
			c.Flags = pick[int32](d, wire.FlagPersistent, wire.FlagSequential)
		}
		return Request{Op: op, Body: &c}
	}
	switch {
	case c.Path == "/": // a sequential node there would meet other programs
		c.Flags = 0
	case c.Path == "~/t" || d.chance(6):
		return d.createTTL(c, batch)
	case c.Flags&wire.FlagSequential != 0 && d.chance(70):
		c.Path = pick(d, "~/s", "~/a/s", "~/", "~/a/")
	case d.chance(3) && batch:
		c.Flags = pick[int32](d, 7, -1, 99)
	case d.chance(3):
		// Not in a batch: when the leader comes to such a part of a multi it gives up, and
		// requests behind the multi see the changes of the earlier parts until they have been
		// carried out (PrepRequestProcessor.pRequestHelper rolls back only after a
		// KeeperException).
		c.Flags = pick[int32](d, 7, -1, 99, wire.FlagPersistentTTL, wire.FlagPersistentSequentialTTL)
	}
	return Request{Op: op, Body: &c}
}

func (d *dice) createTTL(c wire.CreateRequest, batch bool) Request {
	c.Flags = pick[int32](d, wire.FlagPersistentTTL, wire.FlagPersistentTTL, wire.FlagPersistentSequentialTTL, wire.FlagPersistent)
	ttl := pick[int64](d, 3_600_000, 3_600_000, 1<<39, 0, -1, 1<<40, 1<<40-1)
	switch {
	case c.Path == "~/t" && !batch:
		c.Flags, ttl = wire.FlagPersistentTTL, 1
	case c.Flags != wire.FlagPersistentTTL && c.Flags != wire.FlagPersistentSequentialTTL:
		// Under other flags servers do not check the time to live before it is in the log of
		// changes. A value out of range ends all servers, and again at each start.
		ttl = 3_600_000
	}
	return Request{Op: wire.CreateTTL, Body: &wire.CreateTTLRequest{CreateRequest: c, TTL: ttl}}
}

func (d *dice) multi(batch bool) Request {
	m := &wire.MultiRequest{}
	for range d.IntN(5) {
		q := d.change(batch)
		for q.Op == wire.SetACL {
			q = d.change(batch)
		}
		switch n := d.IntN(100); {
		case n < 20:
			q = Request{Op: wire.Check, Body: &wire.PathVersion{Path: d.path(batch), Version: d.version()}}
		case n < 21:
			q = Request{Op: wire.GetData, Body: &wire.PathWatch{Path: d.belowRoot(false)}}
		}
		m.Parts = append(m.Parts, wire.Part{Op: q.Op, Body: withACL(q.Body)})
	}
	return Request{Op: wire.Multi, Body: m}
}

// withACL gives a create without a list an empty one: 3.9 cannot read a multi with such a
// create, and then orders no more changes (see oddRequest).
func withACL(body wire.Record) wire.Record {
	switch b := body.(type) {
	case *wire.CreateRequest:
		b.ACL = append([]wire.ACL{}, b.ACL...)
	case *wire.CreateTTLRequest:
		b.ACL = append([]wire.ACL{}, b.ACL...)
	}
	return body
}

func (d *dice) multiRead() Request {
	m := &wire.MultiRequest{}
	for range d.IntN(4) {
		m.Parts = append(m.Parts, wire.Part{Op: pick(d, wire.GetData, wire.GetChildren), Body: &wire.PathWatch{Path: d.belowRoot(false)}})
	}
	if d.chance(5) {
		m.Parts = append(m.Parts, wire.Part{Op: wire.Check, Body: &wire.PathVersion{Path: "~/a", Version: -1}})
	}
	return Request{Op: wire.MultiRead, Body: m}
}

// belowRoot draws a path other than "/" and "", which mean the tree's root: other
// programs change its data, and need to create nodes in it.
func (d *dice) belowRoot(batch bool) string {
	for {
		if path := d.path(batch); path != "/" && path != "" {
			return path
		}
	}
}

func (d *dice) read() Request {
	path := d.belowRoot(false)
	switch op := pick(d, wire.Exists, wire.Exists, wire.GetData, wire.GetData, wire.GetChildren, wire.GetChildren2, wire.GetACL,
		wire.Sync, wire.Ping, wire.GetEphemerals, wire.GetAllChildrenNumber, wire.WhoAmI); op {
	case wire.Ping, wire.WhoAmI:
		return Request{Op: op}
	case wire.GetACL, wire.Sync, wire.GetAllChildrenNumber:
		return Request{Op: op, Body: &wire.Path{Path: path}}
	case wire.GetEphemerals:
		return Request{Op: op, Body: &wire.Path{Path: pick(d, path, "~", "/")}}
	default:
		return Request{Op: op, Body: &wire.PathWatch{Path: path, Watch: d.chance(60)}}
	}
}

// watch draws a request about watches alone.
func (d *dice) watch() Request {
	path := d.belowRoot(false)
	if d.chance(50) {
		return Request{Op: wire.AddWatch, Body: &wire.AddWatchRequest{Path: path, Mode: pick[int32](d, 0, 0, 1, 1, 1, 2, -1)}}
	}
	kind := pick[wire.WatcherType](d, 1, 2, 3, 3, 4, 5, 0, 6)
	return Request{Op: pick(d, wire.RemoveWatches, wire.CheckWatches), Body: &wire.PathWatcherType{Path: path, Type: kind}}
}

func (d *dice) setWatches() Request {
	list := func() []string {
		paths := []string{}
		for range d.IntN(3) {
			paths = append(paths, d.belowRoot(false))
		}
		return paths
	}
	w := wire.SetWatchesRequest{RelativeZxid: int64(d.IntN(8)), Data: list(), Exist: list(), Child: list()}
	if d.chance(50) {
		return Request{Op: wire.SetWatches, Body: &w}
	}
	return Request{Op: wire.SetWatches2, Body: &wire.SetWatches2Request{SetWatchesRequest: w, Persistent: list(), PersistentRecursive: list()}}
}
