package tree_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

func equal(t *testing.T, want, got *tree.Tree) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Errorf("the trees differ:\n%s\nand\n%s", dump(want, "/"), dump(got, "/"))
	}
}

// state returns all data of a tree that can be read.
func state(t *tree.Tree) string {
	s := dump(t, "/") + fmt.Sprintln(t.LastZxid(), t.Sessions(), t.Reapable(1e9, 1))
	for session := range int64(4) {
		s += fmt.Sprintln(t.Ephemerals(session))
	}
	return s
}

// dump lists a subtree with all data that a client may see.
func dump(t *tree.Tree, path string) string {
	stat, _ := t.Stat(path)
	s := fmt.Sprintf("%s %+v\n", path, stat)
	super := []wire.ID{{Scheme: "super"}}
	r, _ := t.Read(tree.Request{Op: wire.GetChildren, Body: &wire.PathWatch{Path: path}, Auth: super})
	for _, name := range r.(*wire.ChildrenReply).Children {
		if path == "/" {
			s += dump(t, "/"+name)
		} else {
			s += dump(t, path+"/"+name)
		}
	}
	return s
}

// draw draws a request, on few paths so that rules apply.
func draw(rnd *rand.Rand) tree.Request {
	r := tree.Request{Session: 1 + rnd.Int64N(3), Auth: []wire.ID{local}, Timeout: 5000}
	if rnd.IntN(2) == 0 {
		r.Auth = append(r.Auth, ann)
	}
	r.Op = []wire.Op{wire.Create, wire.Create, wire.Create2, wire.CreateContainer, wire.CreateTTL, wire.Delete,
		wire.SetData, wire.SetACL, wire.Multi, wire.CreateSession, wire.CloseSession, wire.DeleteContainer}[rnd.IntN(12)]
	if r.Op == wire.Multi {
		var m wire.MultiRequest
		for range 1 + rnd.IntN(3) {
			op := []wire.Op{wire.Create, wire.Delete, wire.SetData, wire.Check}[rnd.IntN(4)]
			m.Parts = append(m.Parts, wire.Part{Op: op, Body: drawBody(rnd, op)})
		}
		r.Body = &m
		return r
	}
	r.Body = drawBody(rnd, r.Op)
	return r
}

func drawBody(rnd *rand.Rand, op wire.Op) wire.Record {
	path := "/" + string("abc"[rnd.IntN(3)])
	if rnd.IntN(2) == 0 {
		path += "/" + string("xyz"[rnd.IntN(3)])
	}
	version := []int32{-1, -1, 0, 1}[rnd.IntN(4)]
	switch body := wire.NewRequest(op).(type) {
	case *wire.CreateRequest:
		return create(path, rnd.Int32N(5))
	case *wire.CreateTTLRequest:
		return createTTL(path, 5+rnd.Int32N(2), 10)
	case *wire.PathVersion:
		return &wire.PathVersion{Path: path, Version: version}
	case *wire.SetDataRequest:
		return &wire.SetDataRequest{Path: path, Data: []byte{byte(rnd.IntN(256))}, Version: version}
	case *wire.SetACLRequest:
		ids := []wire.ID{{Scheme: "world", ID: "anyone"}, {Scheme: "auth"}, ann}
		return &wire.SetACLRequest{Path: path, ACL: []wire.ACL{{Perms: rnd.Int32N(32), ID: ids[rnd.IntN(3)]}}, Version: version}
	case *wire.Path:
		return &wire.Path{Path: path}
	default:
		return body
	}
}

// Two trees to which the same transactions are applied are the same, and give the same
// answers; preparing a request changes nothing; and a clone is independent.
func TestTreesFollowFromTheirTransactions(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		leader, follower := tree.New(), tree.New()
		var clone *tree.Tree
		var then string
		for i := range int64(100) {
			before := leader.Clone()
			x := tree.Prepare(leader, draw(rnd), i+1, 1000+i)
			if equal(t, before, leader); t.Failed() {
				t.Fatalf("seed %d: preparing %+v changed the tree", seed, x)
			}
			a, b := leader.Apply(&x), follower.Apply(&x)
			if equal(t, leader, follower); t.Failed() || !reflect.DeepEqual(a, b) {
				t.Fatalf("seed %d: after %+v: %+v and %+v", seed, x, a, b)
			}
			if i == 50 {
				clone, then = leader.Clone(), state(leader)
			}
		}
		if state(clone) != then {
			t.Fatalf("seed %d: a clone changed with its original", seed)
		}
		now := state(leader)
		for i := range int64(50) {
			x := tree.Prepare(clone, draw(rnd), 100+i, 2000+i)
			clone.Apply(&x)
		}
		if state(leader) != now {
			t.Fatalf("seed %d: the original changed with its clone", seed)
		}
	}
}
