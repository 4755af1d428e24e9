package simulation

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/live"
	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/histories"
)

func TestMessagesAreToldInWords(t *testing.T) {
	rec, kept, err := histories.Keep(histories.Header{Clients: 4, Recipe: string(histories.Mutex)})
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range []int{3, 7, 2} { // of clients 3 and 2, which share a session
		if _, err := rec.Record(histories.Event{Type: histories.Invoke, Op: histories.Acquire, Process: process, Lock: "lock-0", Session: "0x0000000000000005"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	ask := func(xid int32, op wire.Op, body ...wire.Record) []byte {
		return wire.Frame(append([]wire.Record{&wire.RequestHeader{Xid: xid, Op: op}}, body...)...)
	}
	answer := func(xid int32, code wire.Code, body ...wire.Record) []byte {
		return wire.Frame(append([]wire.Record{&wire.ReplyHeader{Xid: xid, Err: code}}, body...)...)
	}
	children := answer(3, wire.OK, &wire.Children2Reply{Children: []string{"a", "b", "c", "d", "e"}})
	tr := &trace{first: 128}
	want := []string{}
	says := func(reply, lost bool, data []byte, text string) {
		m := live.Message{Client: "198.51.100.5", Conn: 9, Server: 129, Reply: reply, Lost: lost, Data: data}
		tr.messages = append(tr.messages, []sent{{m, time.Duration(len(tr.messages)) * time.Millisecond}})
		want = append(want, text)
	}
	const from, to = "clients 2, 3 ask server 2: ", "server 2 tells clients 2, 3: "
	says(false, false, wire.Frame(&wire.ConnectRequest{}), from+"connect with a new session")
	says(true, false, wire.Frame(&wire.ConnectResponse{Timeout: 2000, Session: 5}), to+"connect with session 0x0000000000000005")
	says(false, true, ask(1, wire.Create2, &wire.CreateRequest{Path: "/l/n-", Flags: wire.FlagEphemeralSequential}), from+"create /l/n- (ephemeral, sequential) (it is lost)")
	says(true, false, answer(1, wire.OK, &wire.CreateReply{Path: "/l/n-7"}), to+"create /l/n- (ephemeral, sequential): /l/n-7")
	says(false, false, slices.Concat(ask(2, wire.Delete, &wire.PathVersion{Path: "/l/n-7"}), ask(3, wire.GetChildren2, &wire.PathWatch{Path: "/l", Watch: true})), from+"delete /l/n-7; children of /l and watch")
	says(true, false, slices.Concat(answer(2, wire.NoNode), children[:9]), to+"delete /l/n-7: there is no such node")
	says(true, false, children[9:], to+"children of /l and watch: a, b, c, d, and 1 more")
	says(true, false, answer(wire.NotificationXid, wire.OK, &wire.WatcherEvent{Type: wire.NodeDeleted, Path: "/l/n-6"}), to+"/l/n-6 was deleted")
	says(false, false, ask(4, wire.Multi, &wire.MultiRequest{Parts: []wire.Part{
		{Op: wire.Check, Body: &wire.PathVersion{Path: "/l/n-7"}}, {Op: wire.SetData, Body: &wire.SetDataRequest{Path: "/v"}},
	}}), from+"all or none (check /l/n-7, set /v)")
	says(true, false, answer(4, wire.OK, &wire.MultiReply{Results: []wire.Result{
		{Op: wire.ErrorOp, Body: &wire.ErrorReply{Err: wire.NoNode}}, {Op: wire.ErrorOp, Body: &wire.ErrorReply{Err: wire.RuntimeInconsistency}},
	}}), to+"all or none (check /l/n-7, set /v): there is no such node")
	says(false, false, ask(wire.PingXid, wire.Ping), from+"ping")
	says(true, false, answer(wire.PingXid, wire.OK), to+"ping: done")
	says(false, false, []byte("mntr"), `clients 2, 3 ask server 2: "mntr"`)
	path := filepath.Join(t.TempDir(), TraceFile)
	if err := tr.write(path, kept); err != nil {
		t.Fatal(err)
	}
	all, err := readTrace(path)
	if err != nil || len(all) != len(want) {
		t.Fatalf("%d messages of %d, %v", len(all), len(want), err)
	}
	for i, m := range all {
		if m.what != want[i] || m.at != tr.all()[i].at {
			t.Errorf("message %d at %v: %s\nwant %s", i+1, m.at, m.what, want[i])
		}
	}
}
