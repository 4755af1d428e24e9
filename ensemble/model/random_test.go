package model_test

import (
	"crypto/sha1"
	"encoding/base64"
	"math/rand/v2"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Random draws a program of the given number of steps. The same seed gives the same
// program.
func Random(seed uint64, steps int) Program {
	d := &dice{rand.New(rand.NewPCG(seed, 0))}
	sessions := 2 + d.IntN(3)
	p := Program{Seed: seed}
	for range steps {
		p.Steps = append(p.Steps, d.step(d.IntN(sessions)))
	}
	return p
}

type dice struct{ *rand.Rand }

// chance returns true in percent of a hundred cases.
func (d *dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d *dice, from ...T) T { return from[d.IntN(len(from))] }

func (d *dice) step(session int) Step {
	s := Step{Session: session, Action: Ask, Server: d.IntN(3)}
	switch n := d.IntN(100); {
	case n < 6:
		s.Action = Move
	case n < 9:
		s.Action, s.Requests = Steal, []Request{d.request(false)}
	case n < 12:
		s.Action = Leave
	case n < 14:
		s.Action = Expire
	case n < 15:
		s.Action = Forge
	case n < 16:
		s.Action = Ahead
	case n < 28:
		for range 2 + d.IntN(4) {
			s.Requests = append(s.Requests, d.request(true))
		}
	default:
		s.Requests = []Request{d.request(false)}
	}
	return s
}

// request draws a request. A request of a batch does not touch nodes that servers delete
// on their own, and is none that is answered out of order.
func (d *dice) request(batch bool) Request {
	switch n := d.IntN(100); {
	case !batch && n < 3:
		return d.oddRequest()
	case !batch && n < 6:
		return d.auth()
	case !batch && n < 9:
		return d.setWatches()
	case n < 42:
		return d.change(batch)
	case n < 52:
		return d.multi(batch)
	case n < 57:
		return d.multiRead()
	case n < 67:
		return d.watch()
	}
	return d.read()
}

// path draws one of a few nodes.
func (d *dice) path(batch bool) string {
	switch n := d.IntN(100); {
	case n < 4:
		return pick(d, "", "a", "~/", "~/a/", "~//a", "~/.", "~/a/..", "~/a\x00b", "~/a/../b", "~/\u0001", "/")
	case n < 24 && !batch:
		return pick(d, "~/c", "~/c", "~/c/x", "~/c/y", "~/t")
	case n < 28:
		return "~"
	}
	return pick(d, "~/a", "~/a", "~/a", "~/b", "~/b", "~/a/x", "~/a/x", "~/a/y", "~/b/x", "~/a/x/k", "~/s0000000000", "~/a/s0000000001")
}

func (d *dice) data() []byte {
	return pick(d, nil, []byte{}, []byte("d"), []byte("data"), []byte("\x00\xff"))
}

// version draws a version that is often the node's.
func (d *dice) version() int32 { return pick[int32](d, -1, -1, -1, -1, 0, 0, 1, 2, 7, -2) }

// Identities that programs prove.
var identities = []string{"u:p", "v:q"}

func digest(identity string) string {
	sum := sha1.Sum([]byte(identity))
	return identity[:1] + ":" + base64.StdEncoding.EncodeToString(sum[:])
}

// aclOf draws the access control list of a node. Every client may read the nodes that
// servers delete by themselves: a run checks that they are gone before it goes on.
func (d *dice) aclOf(path string) []wire.ACL {
	if path == "~/c" || path == "~/t" {
		return open
	}
	return d.acl()
}

func (d *dice) acl() []wire.ACL {
	one := func(perms int32, scheme, id string) wire.ACL {
		return wire.ACL{Perms: perms, ID: wire.ID{Scheme: scheme, ID: id}}
	}
	if d.chance(75) {
		return open
	}
	switch d.IntN(12) {
	case 0:
		return []wire.ACL{}
	case 1:
		return nil
	case 2:
		return []wire.ACL{one(wire.PermAll, "nosuch", "x")}
	case 3:
		return []wire.ACL{one(wire.PermAll, "world", "someone")}
	case 4:
		return []wire.ACL{one(wire.PermAll, "digest", "nocolon")}
	case 5:
		return []wire.ACL{one(wire.PermAll, "auth", "")}
	case 6:
		return []wire.ACL{one(wire.PermAll, "ip", pick(d, "127.0.0.1", "10.0.0.0/8", "127.0.0.1/40", "nowhere"))}
	case 7:
		return []wire.ACL{one(wire.PermRead|wire.PermAdmin, "world", "anyone"), one(wire.PermRead|wire.PermAdmin, "world", "anyone")}
	case 8:
		return []wire.ACL{one(pick[int32](d, 0, 32, 63, -1), "world", "anyone")}
	}
	return []wire.ACL{
		one(wire.PermAll, "digest", digest(pick(d, identities...))),
		one(pick[int32](d, wire.PermRead, wire.PermCreate, wire.PermWrite, wire.PermDelete, wire.PermAdmin), "world", "anyone"),
	}
}

func (d *dice) auth() Request {
	a := &wire.AuthRequest{Scheme: "digest", Auth: []byte(pick(d, identities...))}
	if d.chance(15) {
		a = pick(d, &wire.AuthRequest{Scheme: "nosuch", Auth: []byte("x")}, &wire.AuthRequest{Scheme: "digest", Auth: []byte("nocolon")},
			&wire.AuthRequest{Scheme: "ip", Auth: []byte{}}, &wire.AuthRequest{Scheme: "world", Auth: []byte("anyone")})
	}
	return Request{Op: wire.Auth, Body: a}
}

// oddRequest draws a request that no client sends. Requests for changes stay whole: 3.9
// gives an unreadable change the zxid of the change before, and then orders no more
// changes.
func (d *dice) oddRequest() Request {
	switch d.IntN(6) {
	case 0:
		return Request{Op: pick[wire.Op](d, 10, 23, 99, 108, 1000, -2)}
	case 1:
		return Request{Op: wire.Reconfig, Body: &wire.ReconfigRequest{Config: -1}}
	case 2:
		return Request{Op: pick(d, wire.GetData, wire.Exists, wire.GetChildren)} // without a body
	case 3:
		return Request{Op: wire.Check, Body: &wire.PathVersion{Path: "~/nosuch", Version: d.version()}} // one that succeeds ends an ensemble of 3.8
	}
	q := d.read()
	for q.Op == wire.Sync || q.Body == nil {
		q = d.read()
	}
	q.Cut = 1 + d.IntN(6)
	return q
}
