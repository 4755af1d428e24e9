package tree_test

import (
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

var (
	world  = []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "world", ID: "anyone"}}}
	local  = wire.ID{Scheme: "ip", ID: "127.0.0.1"}
	ann, _ = tree.Authenticate("digest", []byte("ann:secret"), "127.0.0.1")
	bob, _ = tree.Authenticate("digest", []byte("bob:hidden"), "127.0.0.1")
)

// server is a leader that has no followers: each change is prepared and applied at once.
type server struct {
	t    *testing.T
	tree *tree.Tree
	now  int64
}

func start(t *testing.T, r tree.Release) *server {
	return &server{t, tree.NewRelease(r), 1000}
}

// change carries out a request of session 7, and returns the answer to its client and the
// events for watches. Each takes a millisecond.
func (s *server) change(op wire.Op, body wire.Record, ids ...wire.ID) tree.Outcome {
	return s.changeBy(7, op, body, ids...)
}

func (s *server) changeBy(session int64, op wire.Op, body wire.Record, ids ...wire.ID) tree.Outcome {
	s.now++
	r := tree.Request{Session: session, Op: op, Body: body, Auth: append([]wire.ID{local}, ids...), Timeout: 5000}
	x := tree.Prepare(s.tree, r, s.tree.LastZxid()+1, s.now)
	return s.tree.Apply(&x)
}

// must carries out a change that has to succeed.
func (s *server) must(op wire.Op, body wire.Record, ids ...wire.ID) tree.Outcome {
	s.t.Helper()
	o := s.change(op, body, ids...)
	if o.Err != wire.OK {
		s.t.Fatalf("operation %d %+v: error %d", op, body, o.Err)
	}
	return o
}

// makeAll creates nodes without data that every client may use.
func (s *server) makeAll(paths ...string) {
	s.t.Helper()
	for _, p := range paths {
		s.must(wire.Create, create(p, 0))
	}
}

func (s *server) read(op wire.Op, body wire.Record, ids ...wire.ID) (wire.Record, wire.Code) {
	return s.tree.Read(tree.Request{Session: 7, Op: op, Body: body, Auth: append([]wire.ID{local}, ids...)})
}

func (s *server) stat(path string) wire.Stat {
	s.t.Helper()
	stat, ok := s.tree.Stat(path)
	if !ok {
		s.t.Fatalf("%s is missing", path)
	}
	return stat
}

func create(path string, flags int32) *wire.CreateRequest {
	return &wire.CreateRequest{Path: path, ACL: world, Flags: flags}
}

func createTTL(path string, flags int32, ttl int64) *wire.CreateTTLRequest {
	return &wire.CreateTTLRequest{CreateRequest: *create(path, flags), TTL: ttl}
}

func owned(path string, perms int32, by wire.ID) *wire.CreateRequest {
	return &wire.CreateRequest{Path: path, ACL: []wire.ACL{{Perms: perms, ID: by}}}
}

func multi(parts ...wire.Part) *wire.MultiRequest { return &wire.MultiRequest{Parts: parts} }
