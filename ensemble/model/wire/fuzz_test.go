package wire_test

import (
	"bytes"
	"errors"
	"reflect"
	"runtime"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// records returns an empty record of each type that is part of a frame.
func records() []wire.Record {
	all := []wire.Record{&wire.ConnectRequest{}, &wire.ConnectResponse{}, &wire.RequestHeader{}, &wire.ReplyHeader{}, &wire.WatcherEvent{}}
	has := map[reflect.Type]bool{}
	for op := wire.Op(-11); op <= wire.WhoAmI; op++ {
		for _, r := range []wire.Record{wire.NewRequest(op), wire.NewReply(op)} {
			if r != nil && !has[reflect.TypeOf(r)] {
				has[reflect.TypeOf(r)] = true
				all = append(all, r)
			}
		}
	}
	return all
}

// examples returns a record of each type with all fields set.
func examples() []wire.Record {
	stat := wire.Stat{Czxid: 1, Mzxid: 2, Ctime: 3, Mtime: 4, Version: 5, Cversion: 6, Aversion: 7,
		EphemeralOwner: 8, DataLength: 9, NumChildren: 10, Pzxid: 11}
	acl := []wire.ACL{{Perms: 31, ID: wire.ID{Scheme: "world", ID: "anyone"}}}
	create := wire.CreateRequest{Path: "/a", Data: []byte("data"), ACL: acl, Flags: 3}
	watches := wire.SetWatchesRequest{RelativeZxid: 1, Data: []string{"/a", "/b"}, Exist: []string{}, Child: []string{"/c"}}
	return []wire.Record{
		&wire.ConnectRequest{ProtocolVersion: 0, LastZxidSeen: 1, Timeout: 2, Session: 3, Password: []byte("0123456789abcdef"), ReadOnly: true, HasReadOnly: true},
		&wire.ConnectRequest{Password: []byte("0123456789abcdef")},
		&wire.ConnectResponse{Timeout: 2, Session: 3, Password: []byte("0123456789abcdef"), HasReadOnly: true},
		&wire.RequestHeader{Xid: -8, Op: wire.SetWatches},
		&wire.ReplyHeader{Xid: 1, Zxid: 2, Err: wire.NoNode},
		&wire.WatcherEvent{Type: wire.NodeDeleted, State: 3, Path: "/a"},
		&create,
		&wire.CreateTTLRequest{CreateRequest: create, TTL: 5},
		&wire.PathVersion{Path: "/a", Version: -1},
		&wire.PathWatch{Path: "/a", Watch: true},
		&wire.Path{Path: "/a"},
		&wire.SetDataRequest{Path: "/a", Data: []byte{}, Version: 2},
		&wire.SetACLRequest{Path: "/a", ACL: acl, Version: 2},
		&wire.ReconfigRequest{Joining: "a", Leaving: "b", Members: "c", Config: 4},
		&wire.PathWatcherType{Path: "/a", Type: wire.AnyWatcher},
		&wire.AddWatchRequest{Path: "/a", Mode: 1},
		&wire.AuthRequest{Scheme: "digest", Auth: []byte("ann:secret")},
		&wire.SASLToken{Token: []byte("realm=x")},
		&watches,
		&wire.SetWatches2Request{SetWatchesRequest: watches, Persistent: []string{"/p"}, PersistentRecursive: []string{"/r"}},
		&wire.MultiRequest{Parts: []wire.Part{
			{Op: wire.Create, Body: &create}, {Op: wire.CreateTTL, Body: &wire.CreateTTLRequest{CreateRequest: create, TTL: 5}},
			{Op: wire.Delete, Body: &wire.PathVersion{Path: "/a"}}, {Op: wire.SetData, Body: &wire.SetDataRequest{Path: "/a"}},
			{Op: wire.Check, Body: &wire.PathVersion{Path: "/a"}}, {Op: wire.GetData, Body: &wire.PathWatch{Path: "/a"}},
		}},
		&stat,
		&wire.CreateReply{Path: "/a", Stat: stat},
		&wire.DataReply{Data: []byte("data"), Stat: stat},
		&wire.ACLReply{ACL: acl, Stat: stat},
		&wire.ChildrenReply{Children: []string{"a", "b"}},
		&wire.Children2Reply{Children: []string{"a", "b"}, Stat: stat},
		&wire.NumberReply{Number: 3},
		&wire.WhoAmIReply{IDs: []wire.ID{{Scheme: "ip", ID: "127.0.0.1"}}},
		&wire.ErrorReply{Err: wire.NotEmpty},
		&wire.MultiReply{Results: []wire.Result{
			{Op: wire.Create, Body: &wire.Path{Path: "/a"}}, {Op: wire.Create2, Body: &wire.CreateReply{Path: "/a", Stat: stat}},
			{Op: wire.Delete}, {Op: wire.Check}, {Op: wire.SetData, Body: &stat},
			{Op: wire.GetChildren, Body: &wire.ChildrenReply{}},
			{Op: wire.ErrorOp, Err: wire.NoNode, Body: &wire.ErrorReply{Err: wire.NoNode}},
		}},
	}
}

func TestARecordThatIsEncodedIsDecodedAsItWas(t *testing.T) {
	left := map[reflect.Type]bool{}
	for _, r := range records() {
		left[reflect.TypeOf(r)] = true
	}
	for _, want := range examples() {
		delete(left, reflect.TypeOf(want))
		encoded := wire.Encode(want)
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface().(wire.Record)
		if rest, err := wire.Decode(encoded, got); err != nil || len(rest) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%T: %+v, rest %x, %v", want, got, rest, err)
		}
		for n := range len(encoded) {
			if _, short := want.(*wire.ConnectRequest); short && n == len(encoded)-1 {
				continue // the last field may be missing
			}
			if _, short := want.(*wire.ConnectResponse); short && n == len(encoded)-1 {
				continue
			}
			if _, err := wire.Decode(encoded[:n:n], got); !errors.Is(err, wire.ErrMalformed) {
				t.Errorf("%T: its first %d of %d bytes: %v", want, n, len(encoded), err)
			}
		}
	}
	for r := range left {
		t.Errorf("%s has no example", r)
	}
}

// A length that the bytes cannot have takes no memory.
func TestLengthsBeyondTheBytes(t *testing.T) {
	data := append([]byte{0x00, 0x80, 0x00, 0x00}, make([]byte, 100)...)
	for _, r := range []wire.Record{&wire.ACLReply{}, &wire.ChildrenReply{}, &wire.WhoAmIReply{}, &wire.DataReply{}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := wire.Decode(data, r)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 || !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%T: %d bytes, %v", r, took, err)
		}
	}
}

// A record that was decoded can be encoded, and then decodes to the same record.
func FuzzDecode(f *testing.F) {
	all := records()
	for _, r := range examples() {
		for i := range all {
			if reflect.TypeOf(all[i]) == reflect.TypeOf(r) {
				f.Add(uint(i), wire.Encode(r))
			}
		}
	}
	f.Add(uint(0), []byte{0xff, 0xff, 0xff, 0xfe, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, which uint, data []byte) {
		kind := reflect.TypeOf(all[which%uint(len(all))]).Elem()
		decode := func(data []byte) (wire.Record, []byte, error) {
			r := reflect.New(kind).Interface().(wire.Record)
			rest, err := wire.Decode(data, r)
			return r, rest, err
		}
		first, rest, err := decode(bytes.Clone(data))
		if err != nil {
			if !errors.Is(err, wire.ErrMalformed) {
				t.Fatalf("%s: %v", kind, err)
			}
			return
		}
		if !bytes.HasSuffix(data, rest) {
			t.Fatalf("%s: the rest %x is not the end of %x", kind, rest, data)
		}
		encoded := wire.Encode(first)
		second, rest, err := decode(encoded)
		if err != nil || len(rest) > 0 {
			t.Fatalf("%s: %x, which was encoded, has the rest %x, %v", kind, encoded, rest, err)
		}
		if again := wire.Encode(second); !bytes.Equal(again, encoded) {
			t.Fatalf("%s: %x became %x", kind, encoded, again)
		}
	})
}
